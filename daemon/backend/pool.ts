// Kept connections by address: the last one used is the first one taken, since it is the least likely to have been
// closed by the origin. Backends of all programs share it, so a reload keeps its connections. An idle connection
// that becomes readable or ends is closed at once: its bytes belong to no request (SAFETY rule 5).
// One timer serves all: each list has its longest idle connection first. Thousands may have to be closed together:
// each leaves its list in a step, and they are closed some in a turn.

import { turns } from '../turns/turns.ts';
import type { OriginConnection } from './connection.ts';
import { Deadline } from './deadline.ts';

/** Connections to one address, in the order in which they became idle: each has its neighbours. */
class IdleList {
  oldest: OriginConnection | null = null;
  youngest: OriginConnection | null = null;
  size = 0;

  push(conn: OriginConnection): void {
    const { youngest } = this;
    conn.idle = { list: this, older: youngest, younger: null };
    if (youngest?.idle) youngest.idle.younger = conn;
    else this.oldest = conn;
    this.youngest = conn;
    this.size++;
  }

  remove(conn: OriginConnection): void {
    const { older, younger } = conn.idle as IdlePlace;
    conn.idle = null;
    if (older?.idle) older.idle.younger = younger;
    else this.oldest = younger;
    if (younger?.idle) younger.idle.older = older;
    else this.youngest = older;
    this.size--;
  }
}

/** Where a connection is in the pool. */
export interface IdlePlace {
  readonly list: IdleList;
  older: OriginConnection | null;
  younger: OriginConnection | null;
}

export class ConnectionPool {
  private readonly kept = new Map<string, IdleList>();
  private readonly timer = new Deadline(() => this.expire());
  private timing = false;
  private idleTimeout: number;
  private closed = false;

  /** @param idleTimeout seconds an unused connection is kept (backend_idle_timeout) */
  constructor(idleTimeout: number) {
    this.idleTimeout = idleTimeout;
  }

  setIdleTimeout(seconds: number): void {
    if (seconds === this.idleTimeout) return;
    this.idleTimeout = seconds;
    this.expire();
  }

  /** The most recently used idle connection to this address, or null; none that its origin is about to close. */
  take(key: string): OriginConnection | null {
    const list = this.kept.get(key);
    for (;;) {
      const conn = list?.youngest ?? null;
      if (conn === null) return null;
      this.drop(conn);
      if (!conn.isOpen) continue;
      if (conn.keepFor === Number.POSITIVE_INFINITY || performance.now() - conn.idleSince < conn.keepFor)
        return conn;
      // The origin may be closing it this very moment, and not every request can be sent twice.
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
      list = new IdleList();
      this.kept.set(conn.poolKey, list);
    }
    list.push(conn);
    conn.idleSince = performance.now();
    if (this.timing) return;
    this.timing = true;
    this.timer.start(this.idleTimeout);
  }

  /** Forgets a connection that closed; harmless when it was not idle. */
  drop(conn: OriginConnection): void {
    const { idle } = conn;
    if (idle === null) return;
    idle.list.remove(conn);
    if (idle.list.size === 0) this.kept.delete(conn.poolKey);
  }

  /** Idle connections, to one address or in all. */
  size(key?: string): number {
    if (key !== undefined) return this.kept.get(key)?.size ?? 0;
    let n = 0;
    for (const list of this.kept.values()) n += list.size;
    return n;
  }

  /** Closes all idle connections and keeps none from now on. */
  close(): void {
    this.closed = true;
    this.timing = false;
    this.timer.stop();
    for (const list of [...this.kept.values()]) while (list.oldest !== null) this.closeIdle(list.oldest);
  }

  private closeIdle(conn: OriginConnection): void {
    this.drop(conn);
    conn.destroy();
  }

  /** Closes connections that were idle for too long, and sets the timer for the next. */
  private expire(): void {
    const now = performance.now();
    const limit = now - this.idleTimeout * 1000;
    let oldest = Number.POSITIVE_INFINITY;
    for (const list of [...this.kept.values()]) {
      while (list.oldest !== null && list.oldest.idleSince <= limit) {
        this.closeIdle(list.oldest);
        turns.tookLong();
        if (!turns.mayGoOn()) {
          turns.later(() => this.expire());
          return;
        }
      }
      if (list.oldest !== null) oldest = Math.min(oldest, list.oldest.idleSince);
    }
    this.timing = oldest !== Number.POSITIVE_INFINITY;
    if (this.timing) this.timer.start((oldest - limit) / 1000);
    else this.timer.stop();
  }
}
