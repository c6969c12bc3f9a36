// The worker as its backends see it.

import type { ByteTurns } from '../flow/byte-turns.ts';
import type { HeadLimits } from '../http1/head-parser.ts';
import type { MainCounters } from '../stats/counter-fields.ts';
import type { DialerParams } from './dialer.ts';
import type { ReadBuffer } from './exchange-roles.ts';
import type { HoldDown } from './hold-down.ts';
import type { PiecePacer } from './piece-pacer.ts';
import type { ConnectionPool } from './pool.ts';
import type { ProbeSchedule } from './probe-schedule.ts';
import type { OpenWire } from './probe-wire.ts';
import type { NameLookup } from './resolve.ts';
import type { TlsClients } from './tls-client.ts';

/** The environment that all backends of a worker share. */
export interface BackendEnvironment {
  readonly pool: ConnectionPool;
  readonly holdDown: HoldDown;
  readonly probes: ProbeSchedule;
  /** Opens the connections of probes. */
  readonly wires: OpenWire;
  readonly tlsClients: TlsClients;
  readonly readBuffer: ReadBuffer;
  /** Paces the writes of request bodies. */
  readonly pacer: PiecePacer;
  readonly readTurns: ByteTurns;
  readonly stats: Pick<
    MainCounters,
    | 'backend_conn'
    | 'backend_fail'
    | 'backend_busy'
    | 'backend_wait'
    | 'backend_wait_fail'
    | 'backend_unhealthy'
    | 'backend_reuse'
    | 'backend_recycle'
  >;
  /** Current values: parameters may change while the worker runs. */
  readonly limits: HeadLimits;
  readonly params: DialerParams & {
    readonly connect_timeout: number;
    readonly first_byte_timeout: number;
    readonly between_bytes_timeout: number;
    /** Most fetches that wait for a connection, and seconds; none waits if either is 0. */
    readonly backend_wait_limit: number;
    readonly backend_wait_timeout: number;
    /** IPv6 first unless 0. */
    readonly prefer_ipv6: number;
  };
  /** Epoch seconds. */
  now(): number;
  /** Writes a Backend_health record. */
  healthLog(text: string): void;
  /** Adds an event when a probe has changed its verdict. */
  healthChanged(text: string): void;
  /** Reports to the operator. */
  note(text: string): void;
  /** The system's resolver when absent. */
  readonly names?: NameLookup;
}
