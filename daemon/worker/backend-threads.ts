// The backends of one worker's threads as one: rows that they share (backend/shared-backends.ts), and backends made at
// run time, which the first thread has, too, as long as another one has them: it is the one that probes and lists.

import { type BackendRow, SharedBackends } from '../backend/shared-backends.ts';
import type { Peers } from '../threads/peers.ts';

const FIRST = 0;

/** A program, among others of its name that are still in use. */
export interface ProgramIdentity {
  readonly name: string;
  /** Number of its loading, the same in all threads. */
  readonly loading: number;
}

interface KeptSaid extends ProgramIdentity {
  readonly kind: 'run-time-backend';
  /** Its description as JSON. */
  readonly key: string;
}

export class BackendThreads {
  /** Has this thread make or keep a backend that another one has; the first thread's table of programs sets it. */
  onKept: (program: ProgramIdentity, key: string) => void = () => undefined;
  private readonly rows: SharedBackends;
  private readonly peers: Peers;

  constructor(peers: Peers) {
    this.peers = peers;
    this.rows = new SharedBackends(peers.part('backends'), peers.makeLock('backends'), peers);
    peers.channel.on<KeptSaid>('run-time-backend', ({ name, loading, key }) =>
      this.onKept({ name, loading }, key),
    );
  }

  /** @param key of the backend in its program, and `of` the name that others may have as well */
  join({ name, loading }: ProgramIdentity, key: string, of: string | null = null): BackendRow {
    return this.rows.join(`${loading} ${name}.${key}`, of === null ? null : `${loading} ${name}.${of}`);
  }

  /** This thread has a backend that was made at run time. */
  kept({ name, loading }: ProgramIdentity, key: string): void {
    this.peers.channel.send<KeptSaid>(FIRST, { kind: 'run-time-backend', name, loading, key });
  }
}
