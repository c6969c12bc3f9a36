// A director whose members come from the name service. The lookup is repeated while its program is warm: after the lifetime
// of its result, or sooner after a failure. Requests can wait for the first result.

import type { Director, DirectorListing, VclContext } from '../../contract/context.ts';
import { DirectorRow, type MemberRow, type RowSource } from '../directors/row.ts';

/** Least seconds between two lookups (chosen), to spare the name server. */
const SHORTEST = 0.1;
/** A timer cannot wait for longer, in seconds. */
const LONGEST = 2 ** 31 / 1000 - 1;

export interface Times {
  /** Seconds that requests wait for the first result. */
  readonly firstTimeout: number;
  /** Seconds until a lookup that has failed is repeated. */
  readonly retryAfter: number;
}

export interface FollowOptions extends Times {
  /** As listed: `d(host:port)` or `d(service)`. */
  readonly name: string;
  /** Epoch seconds. */
  readonly now: () => number;
  readonly isWarm: boolean;
  /** A program that asked for it in vcl_init keeps it. */
  readonly isLasting: boolean;
}

export abstract class NameDirector<O extends FollowOptions> implements Director, RowSource {
  readonly vclName: string;
  readonly listed: DirectorListing;
  readonly type = 'dynamic';
  abstract readonly columns: readonly string[];
  /** Epoch seconds. */
  usedAt: number;
  readonly isLasting: boolean;
  protected readonly options: O;
  protected readonly refresh: Refresh;

  constructor(options: O) {
    const now = options.now();
    this.vclName = options.name;
    this.options = options;
    this.usedAt = now;
    this.isLasting = options.isLasting;
    this.listed = new DirectorRow(this, now);
    this.refresh = new Refresh(() => this.lookUp(), options, options.isWarm);
  }

  /** Takes the members from the name service; resolves with the seconds until the next lookup. The constructor calls it:
   * fields of a subclass exist only after the first `await`. */
  protected abstract lookUp(): Promise<number>;

  abstract directors(): Director[];
  abstract resolve(ctx: VclContext): Director | null;
  abstract pending(): Promise<void> | null;
  abstract rows(now: number): Iterable<MemberRow>;
  /** Keeps its members, which are dropped when they are not used. */
  abstract touch(): void;

  healthy(now: number, ctx: VclContext | null = null): boolean {
    const { admin } = this.listed;
    if (admin !== 'auto') return admin === 'healthy';
    return this.directors().some((member) => member.healthy(now, ctx));
  }

  setWarm(warm: boolean): void {
    this.refresh.setWarm(warm);
  }

  get inUse(): number {
    return this.directors().reduce((sum, { inUse }) => sum + inUse, 0);
  }

  end(): void {
    this.refresh.end();
  }

  facts(): string[] {
    return [];
  }

  counts(now: number): { good: number; total: number } {
    const members = this.directors();
    return { good: members.filter((member) => member.healthy(now)).length, total: members.length };
  }
}

class Refresh {
  readonly #lookUp: () => Promise<number>;
  readonly #times: Times;
  #timer: NodeJS.Timeout | undefined;
  #isWarm: boolean;
  #isRunning = false;
  #ended = false;
  #arrived: (() => void) | null = null;
  readonly #first: Promise<void>;
  /** Why the last lookup failed; '' if it did not. */
  problem = '';

  /** @param lookUp looks up once, and resolves with the seconds until the next time */
  constructor(lookUp: () => Promise<number>, times: Times, isWarm: boolean) {
    this.#lookUp = lookUp;
    this.#times = times;
    this.#isWarm = isWarm;
    this.#first = new Promise((arrived) => {
      this.#arrived = arrived;
    });
    setTimeout(() => this.#settleFirst(), Math.min(LONGEST, times.firstTimeout) * 1000).unref();
    void this.#renew();
  }

  /** Settles with the first result or its timeout; null once it has. */
  get first(): Promise<void> | null {
    return this.#arrived === null ? null : this.#first;
  }

  setWarm(isWarm: boolean): void {
    this.#isWarm = isWarm;
    if (isWarm) void this.#renew();
    else clearTimeout(this.#timer);
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#settleFirst();
  }

  #settleFirst(): void {
    this.#arrived?.();
    this.#arrived = null;
  }

  async #renew(): Promise<void> {
    if (this.#isRunning || this.#ended) return;
    clearTimeout(this.#timer);
    this.#isRunning = true;
    let seconds: number;
    try {
      seconds = await this.#lookUp();
      this.problem = '';
    } catch (error) {
      seconds = this.#times.retryAfter;
      this.problem = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    }
    this.#isRunning = false;
    this.#settleFirst();
    if (this.#ended || !this.#isWarm) return;
    const wait = Math.min(LONGEST, Math.max(SHORTEST, seconds));
    this.#timer = setTimeout(() => void this.#renew(), wait * 1000).unref();
  }
}

/** Resolves with the first of several waits; null if there are none. */
export function firstOf(waits: readonly (Promise<void> | null | undefined)[]): Promise<void> | null {
  const pending = waits.filter((each) => each != null);
  return pending.length === 0 ? null : Promise.race(pending);
}
