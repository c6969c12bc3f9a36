// Turns clients away before the process runs out of descriptors. At the limit itself the runtime accepts and closes
// connections without a word to anybody, and fetches, the log and the queue of purges would have none left either. The
// kernel gives the lowest number that is free, so that the number of a new connection shows how many are in use.

import { readFileSync } from 'node:fs';

export interface DescriptorParts {
  /** How many descriptors the process may have. */
  readonly limit: number;
  readonly stats: { sess_fail: number; sess_fail_emfile: number };
  /** Seconds. */
  now(): number;
  /** For the log and the operator, at most once in PAUSE. */
  report(text: string): void;
}

/** Kept for everything but clients: an eighth, at most this many (chosen). */
const MOST_KEPT = 256;
/** Seconds between two reports (chosen). */
const PAUSE = 10;

export class DescriptorGuard {
  readonly #parts: DescriptorParts;
  readonly #first: number;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #since = 0;

  constructor(parts: DescriptorParts) {
    this.#parts = parts;
    this.#first = parts.limit - Math.min(MOST_KEPT, Math.ceil(parts.limit / 8));
  }

  /** Whether a client with this descriptor is one too many; it is counted then. */
  turnsAway(fd: number | undefined): boolean {
    if (fd === undefined || fd < this.#first) return false;
    this.#count(fd);
    return true;
  }

  /** A client is gone because no descriptor was left at all. */
  ranOut(): void {
    this.#count(this.#parts.limit);
  }

  #count(inUse: number): void {
    const { stats, limit, now, report } = this.#parts;
    stats.sess_fail++;
    stats.sess_fail_emfile++;
    this.#since++;
    if (now() - this.#reportedAt < PAUSE) return;
    report(
      `Out of descriptors: ${this.#since === 1 ? 'a client was' : `${this.#since} clients were`} turned away, ${inUse} of ${limit} are in use. Raise the limit (LimitNOFILE= in systemd, ulimit -n), or lower timeout_idle`,
    );
    this.#reportedAt = now();
    this.#since = 0;
  }
}

/** The soft limit of this process; infinite where /proc does not have it. */
export function descriptorLimit(path = '/proc/self/limits'): number {
  try {
    const [, soft = ''] = /^Max open files\s+(\d+)/m.exec(readFileSync(path, 'latin1')) ?? [];
    return soft === '' ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
