// Joins the backends of a worker's threads: shared rows (backend/shared-backends.ts), and backends made at run time,
// which the first thread mirrors while any other thread has them, because it is the one that probes and lists.

import { type BackendRow, SharedBackends } from '../backend/shared-backends.ts';
import type { Peers } from '../threads/peers.ts';

const FIRST = 0;

/** Identifies a program, also among those of its name that are still in use. */
export interface ProgramIdentity {
  readonly name: string;
  /** Serial number of the load, the same in all threads. */
  readonly loading: number;
}

interface RunTimeBackendMessage extends ProgramIdentity {
  readonly kind: 'run-time-backend';
  /** The backend's description as JSON. */
  readonly key: string;
}

export class BackendThreads {
  /** Makes or keeps a backend that another thread has; set by the first thread's table of programs. */
  onKept: (program: ProgramIdentity, key: string) => void = () => undefined;
  private readonly rows: SharedBackends;
  private readonly peers: Peers;

  constructor(peers: Peers) {
    this.peers = peers;
    this.rows = new SharedBackends(peers.part('backends'), peers.makeLock('backends'), peers);
    peers.channel.on<RunTimeBackendMessage>('run-time-backend', ({ name, loading, key }) =>
      this.onKept({ name, loading }, key),
    );
  }

  /** @param key of the backend in its program @param of a name that other backends may have as well */
  join({ name, loading }: ProgramIdentity, key: string, of: string | null = null): BackendRow {
    return this.rows.join(`${loading} ${name}.${key}`, of === null ? null : `${loading} ${name}.${of}`);
  }

  /** Reports to the first thread that this thread uses a run-time backend. */
  kept({ name, loading }: ProgramIdentity, key: string): void {
    this.peers.channel.send<RunTimeBackendMessage>(FIRST, { kind: 'run-time-backend', name, loading, key });
  }
}
