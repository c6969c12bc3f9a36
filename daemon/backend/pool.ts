// Idle connections by address. The last one used is taken first, since the origin is the least likely to have closed
// it. Backends of all programs share the pool, so a reload keeps connections. An idle connection that becomes readable
// or ends is closed at once: its bytes belong to no request (SAFETY rule 5). One timer serves all: each list has its
// longest idle connection first.

import { newVcpCounters, newWaiterCounters, type WaiterCounters } from '../stats/counter-fields.ts';
import type { OriginConnection } from './connection.ts';
import { Deadline } from './deadline.ts';

export class ConnectionPool {
  readonly counters = newVcpCounters();
  private readonly kept = new Map<string, OriginConnection[]>();
  /** Number of backends by key. */
  private readonly users = new Map<string, number>();
  private readonly timer = new Deadline(() => this.expire());
  private timing = false;
  private idleTimeout: number;
  private closed = false;

  private readonly waiter: WaiterCounters;

  /** @param idleTimeout seconds that an idle connection is kept (backend_idle_timeout) */
  constructor(idleTimeout: number, waiter: WaiterCounters = newWaiterCounters()) {
    this.idleTimeout = idleTimeout;
    this.waiter = waiter;
  }

  setIdleTimeout(seconds: number): void {
    if (seconds === this.idleTimeout) return;
    this.idleTimeout = seconds;
    this.expire();
  }

  /** Counts a backend that takes connections of this key until it leaves. */
  join(key: string): void {
    const users = this.users.get(key) ?? 0;
    if (users === 0) this.counters.ref_miss++;
    else this.counters.ref_hit++;
    this.users.set(key, users + 1);
  }

  leave(key: string): void {
    const users = this.users.get(key) ?? 0;
    if (users > 1) this.users.set(key, users - 1);
    else this.users.delete(key);
  }

  /** The most recently used idle connection to this address, or null. Skips those that the origin is about to close. */
  take(key: string): OriginConnection | null {
    const list = this.kept.get(key);
    for (;;) {
      const conn = list?.pop();
      if (conn === undefined) return null;
      if (!conn.isOpen) continue;
      if (conn.keepFor === Number.POSITIVE_INFINITY || performance.now() - conn.idleSince < conn.keepFor) {
        this.waiter.action++;
        return conn;
      }
      // The origin may be closing it at this moment, and not every request can be sent twice.
      conn.destroy();
    }
  }

  put(conn: OriginConnection): void {
    if (this.closed) {
      conn.destroy();
      return;
    }
    let list = this.kept.get(conn.poolKey);
    if (list === undefined) {
      list = [];
      this.kept.set(conn.poolKey, list);
    }
    list.push(conn);
    conn.idleSince = performance.now();
    if (this.timing) return;
    this.timing = true;
    this.timer.start(this.idleTimeout);
  }

  /** Removes a connection that closed; no effect when it was not idle. */
  drop(conn: OriginConnection): void {
    const list = this.kept.get(conn.poolKey);
    const at = list?.indexOf(conn) ?? -1;
    if (list === undefined || at < 0) return;
    list.splice(at, 1);
    if (!this.closed) this.waiter.remclose++;
    if (list.length === 0) this.kept.delete(conn.poolKey);
  }

  /** Idle connections, to one address or in all. */
  size(key?: string): number {
    if (key !== undefined) return this.kept.get(key)?.length ?? 0;
    let n = 0;
    for (const list of this.kept.values()) n += list.length;
    return n;
  }

  /** Closes all idle connections and keeps none from now on. */
  close(): void {
    this.closed = true;
    this.timing = false;
    this.timer.stop();
    for (const list of [...this.kept.values()]) for (const conn of [...list]) conn.destroy();
  }

  /** Closes connections that were idle for too long, and sets the timer for the next one. */
  private expire(): void {
    const now = performance.now();
    const limit = now - this.idleTimeout * 1000;
    let oldest = Number.POSITIVE_INFINITY;
    for (const [key, list] of [...this.kept]) {
      const fresh = list.findIndex((conn) => conn.idleSince > limit);
      for (const conn of list.splice(0, fresh < 0 ? list.length : fresh)) {
        this.waiter.timeout++;
        conn.destroy();
      }
      if (list.length === 0) this.kept.delete(key);
      else oldest = Math.min(oldest, (list[0] as OriginConnection).idleSince);
    }
    this.timing = oldest !== Number.POSITIVE_INFINITY;
    if (this.timing) this.timer.start((oldest - limit) / 1000);
    else this.timer.stop();
  }
}
