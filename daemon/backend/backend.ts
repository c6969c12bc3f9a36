// A backend: one origin server as declared by a program, with its health, counters and connections. It is the simplest
// director: it resolves to itself. Its health comes from probe.ts, unless the operator has set it. Special case: a
// connection with a PROXY preamble belongs to one client and is never kept, and one with a .preamble is pooled
// separately. With several threads its connections are counted over all of them, and the first thread runs the probe
// (shared-backends.ts).

import type { FetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { Director, DirectorListing } from '../contract/context.ts';
import type { BackendDecl } from '../contract/program.ts';
import type { VbeCounters } from '../stats/counter-fields.ts';
import { errorText } from '../system-error.ts';
import { addressKey, type OriginAddress } from './address.ts';
import { type AddressRefresh, addressRefresh } from './address-refresh.ts';
import type { BackendEnvironment } from './backend-surroundings.ts';
import { connectOrigin } from './connect.ts';
import type { ConnectionOwner, OriginConnection } from './connection.ts';
import { ConnectionLead } from './connection-lead.ts';
import { ConnectionQueue } from './connection-queue.ts';
import { Dialer } from './dialer.ts';
import { BackendHealth } from './health.ts';
import { OriginFailure } from './origin-failure.ts';
import { Probe, type ProbeOwner } from './probe.ts';
import type { PollWay } from './probe-poll.ts';
import { probeSettings } from './probe-settings.ts';
import { ProbeWindow } from './probe-window.ts';
import type { ProxyEnds } from './proxy-header.ts';
import { secureWires } from './secure-wire.ts';
import type { BackendRow } from './shared-backends.ts';
import type { TlsClient } from './tls-client.ts';
import { TLS_FAILED } from './tls-failures.ts';

export interface AcquireOptions {
  /** Seconds; a negative value means the backend's or the parameter's. */
  connectTimeout: number;
  /** Epoch seconds. */
  now: number;
  /** Never a kept connection: for the retry after a stale one. */
  fresh?: boolean;
  /** The client, whom a PROXY header in front of TLS names. */
  client: ProxyEnds | null;
}

/** The happy bits of a backend without a probe, which counts as healthy, as in Varnish 9. */
const ALL_GOOD = 2n ** 64n - 1n;

export class Backend implements Director, ConnectionOwner {
  readonly isSteady = true;
  readonly decl: BackendDecl;
  readonly vclName: string;
  /** "<program>.<name>", as in backend.list and VBE counters. */
  readonly displayName: string;
  readonly counters: VbeCounters;
  readonly health: BackendHealth;
  /** Connections in use by this thread. */
  inUseHere = 0;
  private readonly env: BackendEnvironment;
  private readonly dialer: Dialer;
  private readonly lead: ConnectionLead;
  /** Where connections end: the dialer's addresses, unless they go through another backend. */
  private destinations: readonly OriginAddress[];
  /** Pool keys of the dialer's addresses, in the same order. */
  private poolKeys: readonly string[] = [];
  /** By which it is counted among the pool's backends; empty without an address. */
  private poolName = '';
  /** How to speak TLS, with the backend of `.via` if that does; null without it. */
  readonly tls: TlsClient | null;
  /** The backend of `.via`. */
  private readonly via: Backend | null;
  /** Backends whose connections go through this one. */
  private readonly behind = new Set<Backend>();
  private readonly addressRefresh: AddressRefresh | null;
  private readonly row: BackendRow | null;
  private readonly queue: ConnectionQueue;
  /** Fetches of this thread that count as waiting in the row. */
  private waiting = 0;
  private ended = false;

  /**
   * @param row state shared with other threads; null with one thread
   * @param tls how to speak TLS, with the backend of `.via` if that does; null without it
   * @param via the backend that connections go through; null for none
   */
  constructor(
    decl: BackendDecl,
    programName: string,
    addresses: readonly OriginAddress[],
    counters: VbeCounters,
    env: BackendEnvironment,
    now: number,
    row: BackendRow | null = null,
    tls: TlsClient | null = null,
    via: Backend | null = null,
  ) {
    this.decl = decl;
    this.row = row;
    this.via = via;
    this.tls = tls;
    this.vclName = decl.name;
    this.displayName = `${programName}.${decl.name}`;
    this.counters = counters;
    if (decl.probe === undefined) counters.happy = ALL_GOOD;
    this.env = env;
    this.dialer = new Dialer(addresses, env.holdDown, env.params, counters);
    this.lead = new ConnectionLead(decl, tls, via?.decl ?? null);
    this.destinations = addresses;
    via?.behind.add(this);
    this.aim();
    this.addressRefresh = addressRefresh(this, env);
    this.queue = this.makeQueue();
    this.health = new BackendHealth(
      decl.name,
      now,
      env.now,
      (polls) => {
        counters.happy = polls;
      },
      (owner) => this.makeProbe(owner),
      row,
    );
    this.health.places = () => this.addresses;
  }

  /** Connections in use by all threads. */
  get inUse(): number {
    return this.row === null ? this.inUseHere : this.row.inUse;
  }

  /** Tried in order; of a backend behind another one the first is the destination. Empty when the name has no address. */
  get addresses(): readonly OriginAddress[] {
    return this.destinations;
  }

  set addresses(addresses: readonly OriginAddress[]) {
    this.destinations = addresses;
    this.aim();
    for (const backend of this.behind) backend.aim();
  }

  private aim(): void {
    const { via, dialer, lead, destinations } = this;
    const [destination] = destinations;
    lead.aim(destination);
    if (via === null) dialer.addresses = destinations;
    else dialer.addresses = destination === undefined ? [] : via.addresses;
    this.poolKeys = dialer.addresses.map((at) => this.poolKey(at));
    this.joinPool(this.ended ? '' : this.poolKeys.join(' '));
  }

  private joinPool(name: string): void {
    const { poolName, env } = this;
    if (name === poolName) return;
    if (poolName !== '') env.pool.leave(poolName);
    if (name !== '') env.pool.join(name);
    this.poolName = name;
  }

  healthy(_now: number): boolean {
    return this.decl.none !== true && this.health.usable;
  }

  resolve(): Director | null {
    return this.decl.none === true ? null : this;
  }

  /** Null for a backend declared `none`, which backend.list omits. */
  get listed(): DirectorListing | null {
    return this.decl.none === true ? null : this.health;
  }

  /** Backends of a warm program are probed, and names with `.resolve` are resolved repeatedly. */
  setWarm(warm: boolean): void {
    this.health.setWarm(warm);
    if (warm) this.addressRefresh?.start();
    else this.addressRefresh?.stop();
  }

  /** The backend is removed, with its program or alone; its shared row is released after the last connection. */
  end(): void {
    this.ended = true;
    this.via?.behind.delete(this);
    this.joinPool('');
    this.releaseAtEnd();
  }

  /** Once nothing counts in it. */
  private releaseAtEnd(): void {
    if (this.ended && this.inUseHere === 0 && this.waiting === 0) this.row?.release();
  }

  /** Timeouts of this backend in seconds; the parameter's value by default. */
  get firstByteTimeout(): number {
    return this.decl.firstByteTimeout ?? this.env.params.first_byte_timeout;
  }

  get betweenBytesTimeout(): number {
    return this.decl.betweenBytesTimeout ?? this.env.params.between_bytes_timeout;
  }

  /** The preamble of a request of this client; null if there is none in front of its head. */
  requestLead(client: ProxyEnds | null): Buffer | null {
    return this.lead.ofRequest(client);
  }

  /** A connection for one exchange: a kept one, else a new one. */
  acquire(
    opts: AcquireOptions,
  ): OriginConnection | OriginFailure | Promise<OriginConnection | OriginFailure> {
    const refused = this.usable(opts.now);
    if (refused !== null) return refused;
    // Latecomers do not overtake.
    if (this.queue.length > 0 || !this.enter()) {
      const timeout = this.decl.waitTimeout ?? this.env.params.backend_wait_timeout;
      return timeout > 0 && this.mayWait() ? this.queued(opts, timeout) : this.busy();
    }
    return this.entered(opts);
  }

  /** Counts one more fetch among those that wait for a connection, in all threads; false if none may. */
  private mayWait(): boolean {
    const limit = this.decl.waitLimit ?? this.env.params.backend_wait_limit;
    return this.row === null ? this.queue.length < limit : this.row.queue(limit);
  }

  private async queued(opts: AcquireOptions, timeout: number): Promise<OriginConnection | OriginFailure> {
    const { stats } = this.env;
    stats.backend_wait++;
    this.waiting++;
    const end = await this.queue.wait(timeout);
    this.waiting--;
    this.row?.unqueue();
    this.releaseAtEnd();
    if (end === 'entered') return this.entered({ ...opts, now: this.env.now() });
    stats.backend_wait_fail++;
    return end === 'sick' ? this.sick() : this.busy();
  }

  private entered(
    opts: AcquireOptions,
  ): OriginConnection | OriginFailure | Promise<OriginConnection | OriginFailure> {
    const { env } = this;
    if (this.dialer.addresses.length === 0) {
      this.leave();
      this.counters.fail_other++;
      env.stats.backend_fail++;
      return new OriginFailure('unresolved', this.vclName);
    }
    if (opts.fresh !== true && this.decl.proxyHeader === undefined) {
      const { poolKeys } = this;
      for (let i = 0; i < poolKeys.length; i++) {
        const kept = env.pool.take(poolKeys[i] as string);
        if (kept === null) continue;
        env.stats.backend_reuse++;
        return this.begin(kept, true);
      }
    }
    return this.connectNew(opts);
  }

  private async connectNew(opts: AcquireOptions): Promise<OriginConnection | OriginFailure> {
    const { env } = this;
    const own = this.decl.connectTimeout ?? env.params.connect_timeout;
    const timeout = opts.connectTimeout >= 0 ? opts.connectTimeout : own;
    const tls = this.lead.secureWay(opts.client);
    const got = await this.dialer.dial(opts.now, (at) =>
      connectOrigin(at, { timeout, owner: this, key: this.poolKey(at), tls }, env),
    );
    if ('made' in got) {
      env.stats.backend_conn++;
      if (this.lead.opening !== null) got.made.socket.write(this.lead.opening);
      return this.begin(got.made, false);
    }
    env.stats.backend_fail++;
    this.leave();
    return new OriginFailure(
      REASONS[got.code] ?? 'connect-failed',
      this.vclName,
      got.words ?? `fail errno ${errorText(got)}`,
    );
  }

  keep(conn: OriginConnection): void {
    this.leave();
    this.env.stats.backend_recycle++;
    this.env.pool.put(conn);
  }

  tooLate(): void {
    this.env.stats.backend_recycle++;
  }

  gone(conn: OriginConnection): void {
    // An idle connection has already been counted out.
    if (conn.pooled) this.env.pool.drop(conn);
    else this.leave();
  }

  private poolKey(at: OriginAddress): string {
    return addressKey(at) + this.lead.key;
  }

  /** Whether one more fetch leaves a connection under max_connections for others. */
  get hasSpare(): boolean {
    const max = this.decl.maxConnections ?? 0;
    if (this.row !== null) return this.row.hasSpare(max);
    return max === 0 || this.inUseHere < max - 1;
  }

  private usable(now: number): OriginFailure | null {
    if (this.decl.none === true) return new OriginFailure('no-backend');
    return this.healthy(now) ? null : this.sick();
  }

  private sick(): OriginFailure {
    this.counters.unhealthy++;
    this.env.stats.backend_unhealthy++;
    return new OriginFailure('unhealthy', this.vclName);
  }

  private busy(): OriginFailure {
    this.counters.busy++;
    this.env.stats.backend_busy++;
    return new OriginFailure('busy', this.vclName);
  }

  private makeQueue(): ConnectionQueue {
    const isUsable = (): boolean => this.health.usable;
    return new ConnectionQueue({
      enter: () => this.enter(),
      get isUsable() {
        return isUsable();
      },
      now: () => this.env.now(),
    });
  }

  /** Takes a connection's place under max_connections. */
  private enter(): boolean {
    const { row } = this;
    const max = this.decl.maxConnections ?? 0;
    const isFree = row === null ? max === 0 || this.inUseHere < max : row.enter(max);
    // The counter is this thread's part; the parts of all threads are summed when published.
    if (isFree) this.counters.conn = ++this.inUseHere;
    return isFree;
  }

  private leave(): void {
    this.counters.conn = --this.inUseHere;
    this.row?.leave();
    if (this.queue.length > 0) this.queue.passOn();
    this.releaseAtEnd();
  }

  private begin(conn: OriginConnection, reused: boolean): OriginConnection {
    this.counters.req++;
    conn.open(this, this.counters, this.env.limits, reused);
    if (this.decl.proxyHeader !== undefined) conn.closeBecause(null);
    return conn;
  }

  private makeProbe(owner: ProbeOwner): Probe | null {
    const { decl, env } = this;
    if (decl.probe === undefined || decl.none === true) return null;
    const settings = probeSettings(decl.probe, decl);
    if (this.row?.follows === true) {
      // Used until the first thread has published its health.
      const window = new ProbeWindow(settings);
      owner.probed(window.good >= settings.threshold, window.happy);
      return null;
    }
    const { lead } = this;
    const secure = lead.secureProbe;
    const way: PollWay = {
      dial: () => this.dialer.begin(env.now()),
      open: secure === null ? env.wires : secureWires(env.readBuffer, secure),
      lead: (wire) => lead.ofProbe(wire.local),
    };
    const isQuiet = this.row?.isFirst === false;
    return new Probe(owner, settings, way, env.probes, {
      log: (text) => {
        if (!isQuiet) env.healthLog(text);
      },
      changed: (healthy, text) => {
        const word = healthy ? 'healthy (up)' : 'sick (down)';
        if (!isQuiet) env.healthChanged(`${this.displayName} went ${word}: ${text}`);
      },
    });
  }
}

const REASONS: { readonly [code: string]: FetchFailure } = {
  ECONNREFUSED: 'refused',
  ENETUNREACH: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ETIMEDOUT: 'connect-timeout',
  [TLS_FAILED]: 'tls',
};
