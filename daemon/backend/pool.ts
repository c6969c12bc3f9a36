// Kept connections by address: the last one used is the first one taken, since it is the least likely to have been
// closed by the origin. Backends of all programs share it, so a reload keeps its connections. An idle connection
// that becomes readable or ends is closed at once: whatever it says answers nobody's request (SAFETY rule 5).

import type { OriginConnection } from './connection.ts';

/** A longer timer would fire at once. */
const LONGEST_MS = 0x7fffffff;

export class ConnectionPool {
  private readonly kept = new Map<string, OriginConnection[]>();
  private idleTimeout: number;
  private closed = false;

  /** @param idleTimeout seconds an unused connection is kept (backend_idle_timeout) */
  constructor(idleTimeout: number) {
    this.idleTimeout = idleTimeout;
  }

  setIdleTimeout(seconds: number): void {
    this.idleTimeout = seconds;
  }

  /** The most recently used idle connection to this address, or null. */
  take(key: string): OriginConnection | null {
    const list = this.kept.get(key);
    for (;;) {
      const conn = list?.pop();
      if (conn === undefined) return null;
      if (conn.idleTimer !== null) clearTimeout(conn.idleTimer);
      conn.idleTimer = null;
      if (conn.isOpen) return conn;
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
    conn.idleTimer = setTimeout(() => conn.destroy(), Math.min(LONGEST_MS, this.idleTimeout * 1000));
    conn.idleTimer.unref();
  }

  /** Forgets a connection that closed; harmless when it was not idle. */
  drop(conn: OriginConnection): void {
    if (conn.idleTimer !== null) clearTimeout(conn.idleTimer);
    conn.idleTimer = null;
    const list = this.kept.get(conn.poolKey);
    const at = list?.indexOf(conn) ?? -1;
    if (list === undefined || at < 0) return;
    list.splice(at, 1);
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
    for (const list of [...this.kept.values()]) for (const conn of [...list]) conn.destroy();
  }
}
