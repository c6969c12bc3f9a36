// A backend: one origin server as a program declares it, with its health, its counters and its way to a
// connection. It is the simplest director: it resolves to itself. Probes (a later part) set `probed`; nothing
// here measures health. Awkward: an address that just refused is held down for a moment instead of tried again.

import type { Socket } from 'node:net';
import type { FetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { HeadLimits } from '../http1/head-parser.ts';
import type { MainCounters, VbeCounters } from '../stats/counters.ts';
import type { Director } from '../vcl/context.ts';
import type { BackendDecl } from '../vcl/program.ts';
import { addressKey, type ConnectError, connectOrigin, connectRaw, type OriginAddress } from './connect.ts';
import type { ConnectionOwner, OriginConnection } from './connection.ts';
import { OriginFailure } from './origin-failure.ts';
import type { ConnectionPool } from './pool.ts';

export type AdminHealth = 'auto' | 'healthy' | 'sick';

/** What all backends of a worker share. */
export interface BackendEnvironment {
  readonly pool: ConnectionPool;
  readonly readBuffer: Buffer;
  readonly stats: Pick<
    MainCounters,
    | 'backend_conn'
    | 'backend_fail'
    | 'backend_busy'
    | 'backend_unhealthy'
    | 'backend_reuse'
    | 'backend_recycle'
  >;
  /** Current values: parameters may change under a running worker. */
  readonly limits: HeadLimits;
  readonly params: {
    readonly connect_timeout: number;
    readonly first_byte_timeout: number;
    readonly between_bytes_timeout: number;
    readonly backend_local_error_holddown: number;
    readonly backend_remote_error_holddown: number;
  };
}

export interface AcquireOptions {
  /** Seconds; negative takes the backend's or the parameter's. */
  connectTimeout: number;
  /** Epoch seconds. */
  now: number;
  /** Never a kept connection: for the retry after a stale one. */
  fresh?: boolean;
}

export class Backend implements Director, ConnectionOwner {
  readonly decl: BackendDecl;
  readonly vclName: string;
  /** "<program>.<name>", as backend.list and VBE counters show it. */
  readonly displayName: string;
  readonly counters: VbeCounters;
  /** Tried in order. Empty when the name had no address. */
  readonly addresses: readonly OriginAddress[];
  admin: AdminHealth = 'auto';
  /** What the probe says; true without one. */
  probed = true;
  /** Epoch seconds of the last change of health. */
  changedAt: number;
  /** Connections in use. */
  inUse = 0;
  private readonly env: BackendEnvironment;
  private heldUntil = 0;
  private heldError: OriginFailure | null = null;

  constructor(
    decl: BackendDecl,
    programName: string,
    addresses: readonly OriginAddress[],
    counters: VbeCounters,
    env: BackendEnvironment,
    now: number,
  ) {
    this.decl = decl;
    this.vclName = decl.name;
    this.displayName = `${programName}.${decl.name}`;
    this.addresses = addresses;
    this.counters = counters;
    this.env = env;
    this.changedAt = now;
  }

  healthy(_now: number): boolean {
    if (this.decl.none === true) return false;
    return this.admin === 'auto' ? this.probed : this.admin === 'healthy';
  }

  resolve(): Director | null {
    return this.decl.none === true ? null : this;
  }

  /** backend.set_health. */
  setAdmin(health: AdminHealth, now: number): void {
    const before = this.healthy(now);
    this.admin = health;
    if (this.healthy(now) !== before) this.changedAt = now;
  }

  /** Times of this backend in seconds, the parameter's where it declares none. */
  get firstByteTimeout(): number {
    return this.decl.firstByteTimeout ?? this.env.params.first_byte_timeout;
  }

  get betweenBytesTimeout(): number {
    return this.decl.betweenBytesTimeout ?? this.env.params.between_bytes_timeout;
  }

  /** A connection for one exchange: a kept one, else a new one. */
  async acquire(opts: AcquireOptions): Promise<OriginConnection | OriginFailure> {
    const refused = this.admit(opts.now);
    if (refused !== null) return refused;
    const { env } = this;
    if (opts.fresh !== true) {
      for (const at of this.addresses) {
        const kept = env.pool.take(addressKey(at));
        if (kept === null) continue;
        env.stats.backend_reuse++;
        return this.begin(kept, true);
      }
    }
    const made = await this.connect(opts, (at, timeout) =>
      connectOrigin(at, timeout, env.readBuffer, this, env.limits),
    );
    return made instanceof OriginFailure ? made : this.begin(made, false);
  }

  /** A plain socket for pipe mode, always a new one; it counts against max_connections until it closes. */
  async acquirePipe(opts: AcquireOptions): Promise<Socket | OriginFailure> {
    const refused = this.admit(opts.now);
    if (refused !== null) return refused;
    const socket = await this.connect(opts, connectRaw);
    if (socket instanceof OriginFailure) return socket;
    this.counters.req++;
    socket.once('close', () => this.leave());
    return socket;
  }

  keep(conn: OriginConnection): void {
    this.leave();
    this.env.stats.backend_recycle++;
    this.env.pool.put(conn);
  }

  gone(conn: OriginConnection): void {
    // An idle connection has already been counted out.
    if (!conn.pooled) this.leave();
    this.env.pool.drop(conn);
  }

  /** Takes a place under max_connections, or says why not. */
  private admit(now: number): OriginFailure | null {
    const { env, counters } = this;
    if (this.decl.none === true) return new OriginFailure('no-backend');
    if (!this.healthy(now)) {
      counters.unhealthy++;
      env.stats.backend_unhealthy++;
      return new OriginFailure('unhealthy', this.vclName);
    }
    const max = this.decl.maxConnections ?? 0;
    if (max > 0 && this.inUse >= max) {
      counters.busy++;
      env.stats.backend_busy++;
      return new OriginFailure('busy', this.vclName);
    }
    if (this.addresses.length === 0) {
      counters.fail_other++;
      env.stats.backend_fail++;
      return new OriginFailure('unresolved', this.vclName);
    }
    this.inUse++;
    counters.conn = this.inUse;
    return null;
  }

  private leave(): void {
    this.inUse--;
    this.counters.conn = this.inUse;
  }

  private begin(conn: OriginConnection, reused: boolean): OriginConnection {
    this.counters.req++;
    conn.open(this, this.counters, this.env.limits, reused);
    return conn;
  }

  private async connect<T extends OriginConnection | Socket>(
    opts: AcquireOptions,
    open: (at: OriginAddress, timeout: number) => Promise<T | ConnectError>,
  ): Promise<T | OriginFailure> {
    const { env } = this;
    if (opts.now < this.heldUntil && this.heldError !== null) {
      this.counters.helddown++;
      env.stats.backend_fail++;
      this.leave();
      return this.heldError;
    }
    const own = this.decl.connectTimeout ?? env.params.connect_timeout;
    const timeout = opts.connectTimeout >= 0 ? opts.connectTimeout : own;
    let error: ConnectError = { code: '', errno: 0 };
    for (const at of this.addresses) {
      const made = await open(at, timeout);
      if (!('errno' in made)) {
        env.stats.backend_conn++;
        return made;
      }
      error = made;
    }
    env.stats.backend_fail++;
    this.leave();
    return this.refused(error, opts.now);
  }

  /** Counts a failed connect, and holds the address down where trying again at once is pointless. */
  private refused(error: ConnectError, now: number): OriginFailure {
    const { counters, env } = this;
    const { backend_local_error_holddown: local, backend_remote_error_holddown: remote } = env.params;
    let reason: FetchFailure = 'connect-failed';
    let hold = 0;
    switch (error.code) {
      case 'EACCES':
      case 'EPERM':
        counters.fail_eacces++;
        hold = local;
        break;
      case 'EADDRNOTAVAIL':
        counters.fail_eaddrnotavail++;
        hold = local;
        break;
      case 'ECONNREFUSED':
        counters.fail_econnrefused++;
        reason = 'refused';
        hold = remote;
        break;
      case 'ENETUNREACH':
      case 'EHOSTUNREACH':
        counters.fail_enetunreach++;
        reason = 'unreachable';
        hold = remote;
        break;
      case 'ETIMEDOUT':
        counters.fail_etimedout++;
        reason = 'connect-timeout';
        break;
      default:
        counters.fail_other++;
    }
    const failure = new OriginFailure(reason, this.vclName, errnoText(error));
    if (hold > 0) {
      this.heldUntil = now + hold;
      this.heldError = failure;
    }
    return failure;
  }
}

const MESSAGES: { readonly [code: string]: string } = {
  EACCES: 'Permission denied',
  EPERM: 'Operation not permitted',
  ENOENT: 'No such file or directory',
  EADDRNOTAVAIL: 'Cannot assign requested address',
  ECONNREFUSED: 'Connection refused',
  ENETUNREACH: 'Network is unreachable',
  EHOSTUNREACH: 'No route to host',
  ETIMEDOUT: 'Connection timed out',
  ECONNRESET: 'Connection reset by peer',
};

function errnoText(error: ConnectError): string {
  return `fail errno ${Math.abs(error.errno)} (${MESSAGES[error.code] ?? error.code})`;
}
