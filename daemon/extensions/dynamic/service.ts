// A service (SRV records, RFC 2782): a director in front of the hosts that offer it. Of those with the lowest priority that
// are healthy one is chosen by chance, as often as its weight says.

import type { Director, DirectorListing, VclContext } from '../../contract/context.ts';
import { DirectorRow, healthWord, type MemberRow, type RowSource } from '../directors/row.ts';
import type { Domain } from './domain.ts';
import { firstOf, inUseOf, Refresh, type Times } from './follow-name.ts';
import type { Target } from './names.ts';

export interface ServiceOptions extends Times {
  /** `d(service)` */
  readonly name: string;
  readonly ask: () => Promise<readonly Target[]>;
  /** The director of a target; null where there are too many. */
  readonly domainOf: (target: Target) => Domain | null;
  /** Seconds between two questions. */
  readonly ttl: number;
  /** Epoch seconds. */
  readonly now: () => number;
  readonly isWarm: boolean;
  readonly isLasting: boolean;
}

/** Targets of a service at most (chosen). */
const MOST = 100;

export class Service implements Director, RowSource {
  readonly vclName: string;
  readonly listed: DirectorListing;
  readonly type = 'dynamic';
  readonly columns = ['Priority', 'Weight', 'Health'];
  usedAt: number;
  readonly isLasting: boolean;
  readonly #options: ServiceOptions;
  readonly #refresh: Refresh;
  /** By priority. */
  #targets: readonly Target[] = [];

  constructor(options: ServiceOptions) {
    const now = options.now();
    this.vclName = options.name;
    this.#options = options;
    this.usedAt = now;
    this.isLasting = options.isLasting;
    this.listed = new DirectorRow(this, now);
    this.#refresh = new Refresh(() => this.#ask(), options, options.isWarm);
  }

  async #ask(): Promise<number> {
    const targets = await this.#options.ask();
    this.#targets = targets.toSorted((a, b) => a.priority - b.priority).slice(0, MOST);
    this.touch();
    return this.#options.ttl;
  }

  *#domains(): Generator<{ readonly target: Target; readonly director: Domain }> {
    for (const target of this.#targets) {
      const director = this.#options.domainOf(target);
      if (director !== null) yield { target, director };
    }
  }

  directors(): Director[] {
    return [...this.#domains()].map(({ director }) => director);
  }

  /** Begins to look up its targets, and keeps them. */
  touch(): void {
    const now = this.#options.now();
    for (const { director } of this.#domains()) director.usedAt = now;
  }

  healthy(now: number, ctx: VclContext | null = null): boolean {
    const { admin } = this.listed;
    if (admin !== 'auto') return admin === 'healthy';
    return this.directors().some((domain) => domain.healthy(now, ctx));
  }

  resolve(ctx: VclContext): Director | null {
    this.usedAt = this.#options.now();
    const usable = [...this.#domains()].filter(({ director }) => director.healthy(ctx.now, ctx));
    const best = usable.filter(({ target }) => target.priority === usable[0]?.target.priority);
    // A weight of 0 stands for a very small chance.
    const weights = best.map(({ target }) => Math.max(target.weight, 1e-3));
    let left = Math.random() * weights.reduce((sum, weight) => sum + weight, 0);
    const at = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    return (best[at] ?? best[0])?.director.resolve(ctx) ?? null;
  }

  pending(): Promise<void> | null {
    const { first } = this.#refresh;
    const targets = (): Promise<void> | null =>
      firstOf([...this.#domains()].map(({ director }) => director.pending()));
    return first === null ? targets() : first.then(() => targets() ?? undefined);
  }

  setWarm(warm: boolean): void {
    this.#refresh.setWarm(warm);
  }

  get inUse(): number {
    return inUseOf(this.directors());
  }

  end(): void {
    this.#refresh.end();
  }

  facts(): string[] {
    return [];
  }

  counts(now: number): { good: number; total: number } {
    const domains = this.directors();
    return { good: domains.filter((domain) => domain.healthy(now)).length, total: domains.length };
  }

  *rows(now: number): Generator<MemberRow> {
    for (const { target, director } of this.#domains()) {
      const health = healthWord(director, now);
      const { priority, weight } = target;
      const json = [`"priority": ${priority}`, `"weight": ${weight}`, `"health": "${health}"`];
      yield { director, cells: [String(priority), String(weight), health], json };
    }
  }
}
