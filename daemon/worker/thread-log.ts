// The log of one thread: the ring, which all threads share, and records that belong to no transaction. The first thread
// creates the ring.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Tag } from '../../protocol/tables/tags.ts';
import type { InitMessage } from '../link.ts';
import { LogMask } from '../log/log-mask.ts';
import { RING_FILE } from '../log/ring-format.ts';
import { RingPlace } from '../log/ring-place.ts';
import { type RingCounters, RingWriter } from '../log/ring-writer.ts';
import { ThreadLogs } from '../log/thread-logs.ts';
import { LogShared, TxLog } from '../log/tx-log.ts';
import type { WriteTrouble } from '../log/write-trouble.ts';
import type { Peers } from '../threads/peers.ts';
import { NEVER_LOST } from '../threads/shared-lock.ts';
import { ownMemory } from '../threads/shared-memory.ts';

export interface ThreadLogParts {
  readonly init: Pick<InitMessage, 'dir' | 'files' | 'generation'>;
  /** Null with one thread. */
  readonly peers: Peers | null;
  /** The ring's size in bytes. */
  readonly space: number;
  readonly counters: RingCounters;
  readonly trouble: WriteTrouble;
  /** Called with the ring's size in bytes when it is smaller than requested. */
  cutTo(bytes: number): void;
}

export class ThreadLog {
  /** For records that belong to no transaction. */
  readonly own: TxLog;
  private readonly mask = new LogMask();
  private readonly ring: RingWriter;
  private readonly shared: LogShared;

  constructor(parts: ThreadLogParts) {
    this.ring = openRing(parts);
    this.shared = new LogShared(this.ring, this.mask);
    this.own = this.make();
  }

  make(): TxLog {
    return new TxLog(this.shared);
  }

  /** A record that belongs to no transaction. */
  notice(text: string): void {
    this.own.put(Tag.Notice, text);
  }

  /** @param masked as for LogMask @param reclen longest record in bytes */
  set(masked: Parameters<LogMask['leaveOut']>[0], reclen: number): void {
    this.mask.leaveOut(masked);
    this.shared.reclen = reclen;
  }

  /** Call before the process exits. */
  flushAtEnd(): void {
    this.ring.flushAtEnd();
  }
}

function openRing({ init, peers, space, counters, trouble, cutTo }: ThreadLogParts): RingWriter {
  const path = join(init.dir, RING_FILE);
  const isFirst = peers === null || peers.thread === 0;
  // A new daemon starts a new log; a worker that replaces a dead one continues it.
  if (init.generation === 0 && isFirst) rmSync(path, { force: true });
  const memory = peers?.part('ring') ?? ownMemory();
  const place = isFirst ? RingPlace.begin(path, space, init.files, memory) : RingPlace.join(path, memory);
  if (place.cutTo > 0) cutTo(place.cutTo);
  if (peers === null) return new RingWriter(place, counters, trouble);
  return new RingWriter(place, counters, trouble, {
    lock: peers.makeLock('ring', NEVER_LOST),
    logs: new ThreadLogs(memory, peers.thread, peers.count, RingWriter.stagingFor(place)),
  });
}
