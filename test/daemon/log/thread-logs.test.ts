import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LogMask } from '../../../daemon/log/log-mask.ts';
import { RingPlace } from '../../../daemon/log/ring-place.ts';
import { RingReader } from '../../../daemon/log/ring-reader.ts';
import { RingWriter } from '../../../daemon/log/ring-writer.ts';
import { ThreadLogs } from '../../../daemon/log/thread-logs.ts';
import { LogShared, TxLog } from '../../../daemon/log/tx-log.ts';
import { LOCK_WORDS, SharedLock } from '../../../daemon/threads/shared-lock.ts';
import { ownMemory } from '../../../daemon/threads/shared-memory.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { recordsOf } from '../../harness/records.ts';

const SIZE = 1 << 20;
let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync('/dev/shm/thread-logs-');
  path = join(dir, 'log.ring');
});
afterEach(() => rmSync(dir, { recursive: true }));

interface Thread {
  writer: RingWriter;
  logs: ThreadLogs;
  counters: { shm_records: number; shm_writes: number; shm_flushes: number; shm_cycles: number };
  /** A transaction of this id, with one record. */
  request(id: number): TxLog;
}

/** Threads that write one ring, played in one. */
function threads(count: number): Thread[] {
  const memory = ownMemory();
  const words = new Int32Array(new SharedArrayBuffer(LOCK_WORDS * 4));
  return Array.from({ length: count }, (_, thread) => {
    const place =
      thread === 0 ? RingPlace.begin(path, SIZE, undefined, memory) : RingPlace.join(path, memory);
    const logs = new ThreadLogs(memory, thread, count, RingWriter.stagingFor(place));
    const counters = { shm_records: 0, shm_writes: 0, shm_flushes: 0, shm_cycles: 0, shm_bytes: 0 };
    const lock = new SharedLock(words, 0, thread);
    const writer = new RingWriter(place, counters, null, { lock, logs });
    const shared = new LogShared(writer, new LogMask());
    const request = (id: number): TxLog => {
      const log = new TxLog(shared);
      log.begin(id, 'c');
      log.put(Tag.ReqURL, `/${id}`);
      return log;
    };
    return { writer, logs, counters, request };
  });
}

/** Ids of the transactions whose ends have been written, in that order. */
function ends(reader: RingReader): number[] {
  const ids: number[] = [];
  for (let read = reader.read(); read !== null; read = reader.read()) {
    expect(read.lost).toBe(0);
    for (const { records, count } of read.blocks) {
      const rows = recordsOf(records);
      expect(rows.length).toBe(count);
      for (const { tag, vxid } of rows) if (tag === Tag.End) ids.push(vxid);
    }
  }
  return ids;
}

const open = (): RingReader => RingReader.open(path, 'head') as RingReader;

it('writes an end before the one of what the client did next, whichever thread comes first', () => {
  const [a, b] = threads(2) as [Thread, Thread];
  const reader = open();
  const first = a.request(1);
  first.answering();
  // The client has its answer, and the next one from the other thread, before the first one comes to its end.
  const second = b.request(2);
  second.answering();
  second.endAnswered(true);
  b.writer.flush();
  expect(ends(reader)).toEqual([]);
  first.endAnswered(true);
  b.writer.flush();
  expect(ends(reader)).toEqual([1, 2]);
  a.writer.flush();
  expect(ends(reader)).toEqual([]);
  expect(a.counters.shm_records + b.counters.shm_records).toBe(4);
});

it('puts the ends of several clients in order that took turns on two threads', () => {
  const [a, b] = threads(2) as [Thread, Thread];
  const reader = open();
  // One client: 1 and then 2; another one: 3 and then 4.
  for (const [thread, id] of [
    [a, 1],
    [b, 3],
    [a, 4],
    [b, 2],
  ] as const) {
    const log = thread.request(id);
    log.answering();
    log.endAnswered(true);
  }
  a.writer.flush();
  b.writer.flush();
  expect(ends(reader)).toEqual([1, 3, 4, 2]);
});

it('waits for no write that ends nothing, after the turn that follows it', () => {
  const [a, b] = threads(2) as [Thread, Thread];
  const reader = open();
  const long = a.request(1);
  long.answering();
  const log = b.request(2);
  log.answering();
  log.endAnswered(true);
  a.writer.flush();
  b.writer.flush();
  expect(ends(reader)).toEqual([]);
  a.writer.flush();
  b.writer.flush();
  expect(ends(reader)).toEqual([2]);
  long.endAnswered(true);
  a.writer.flush();
  expect(ends(reader)).toEqual([1]);
});

it('keeps the end of a fetch before what the client did after its answer', () => {
  const [a, b] = threads(2) as [Thread, Thread];
  const reader = open();
  const request = a.request(1);
  const fetch = a.request(2);
  request.answering();
  request.endAnswered(false);
  const next = b.request(3);
  next.answering();
  next.endAnswered(true);
  b.writer.flush();
  expect(ends(reader)).toEqual([]);
  fetch.end();
  a.writer.flush();
  a.writer.flush();
  b.writer.flush();
  expect(ends(reader)).toEqual([1, 2, 3]);
});

it('writes at once what comes after a busy turn, whatever should go before', () => {
  const [a, b] = threads(2) as [Thread, Thread];
  const reader = open();
  const answer = (id: number): void => {
    const log = b.request(id);
    log.answering();
    log.endAnswered(true);
  };
  answer(2);
  answer(3);
  b.writer.flush();
  expect(ends(reader)).toEqual([2, 3]);
  const waiting = a.request(1);
  waiting.answering();
  answer(4);
  b.writer.flush();
  expect(ends(reader)).toEqual([4]);
  // That turn had one alone.
  answer(5);
  b.writer.flush();
  expect(ends(reader)).toEqual([]);
  waiting.endAnswered(true);
  b.writer.flush();
  expect(ends(reader)).toEqual([1, 5]);
});

it('writes all of its own when its buffer is full, whatever should go before', () => {
  const [a, b] = threads(2) as [Thread, Thread];
  const reader = open();
  a.request(1).answering();
  let id = 2;
  while (b.counters.shm_flushes === 0) {
    const log = b.request(id++);
    log.answering();
    log.put(Tag.VCL_Log, 'x'.repeat(200));
    log.endAnswered(true);
  }
  const got = ends(reader);
  expect(got.length).toBeGreaterThan(100);
  expect(got).toEqual(got.map((_, i) => i + 2));
});

it('has room for many short transactions in one turn', () => {
  const [a] = threads(1) as [Thread];
  const reader = open();
  const log = a.request(1);
  for (let i = 0; i < 10_000; i++) {
    log.begin(i + 1, 'c');
    log.answering();
    log.endAnswered(true);
  }
  a.writer.flush();
  a.writer.flush();
  expect(ends(reader)).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
});

it('compares numbers that have begun again from the lowest', () => {
  const [a, b] = threads(2) as [Thread, Thread];
  const { last } = a.logs as unknown as { last: Int32Array };
  last[0] = 0x7fff_fffc;
  const reader = open();
  for (let i = 0; i < 6; i++) {
    const log = (i % 2 === 0 ? a : b).request(i + 1);
    log.answering();
    log.endAnswered(true);
  }
  expect(last[0]).toBeLessThan(0);
  b.writer.flush();
  a.writer.flush();
  expect(ends(reader)).toEqual(Array.from({ length: 6 }, (_, i) => i + 1));
});
