// A service (SRV records, RFC 2782): a director in front of the hosts that offer it. Of the healthy hosts with the lowest
// priority value one is chosen at random, in proportion to its weight.

import type { Director, VclContext } from '../../contract/context.ts';
import { healthWord, type MemberRow } from '../directors/row.ts';
import type { Domain } from './domain.ts';
import { type FollowOptions, firstOf, NameDirector } from './follow-name.ts';
import type { Target } from './names.ts';

export interface ServiceOptions extends FollowOptions {
  readonly ask: () => Promise<readonly Target[]>;
  /** The director of a target; null where there are too many. */
  readonly domainOf: (target: Target) => Domain | null;
  /** Seconds between two lookups. */
  readonly ttl: number;
}

/** Targets of a service at most (chosen). */
const MOST = 100;

export class Service extends NameDirector<ServiceOptions> {
  readonly columns = ['Priority', 'Weight', 'Health'];
  /** By priority. */
  #targets: readonly Target[] = [];

  protected async lookUp(): Promise<number> {
    const targets = await this.options.ask();
    this.#targets = targets.toSorted((a, b) => a.priority - b.priority).slice(0, MOST);
    this.touch();
    return this.options.ttl;
  }

  *#domains(): Generator<{ readonly target: Target; readonly director: Domain }> {
    for (const target of this.#targets) {
      const director = this.options.domainOf(target);
      if (director !== null) yield { target, director };
    }
  }

  directors(): Director[] {
    return [...this.#domains()].map(({ director }) => director);
  }

  /** Also starts to look up new targets. */
  touch(): void {
    const now = this.options.now();
    for (const { director } of this.#domains()) director.usedAt = now;
  }

  resolve(ctx: VclContext): Director | null {
    this.usedAt = this.options.now();
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
    const { first } = this.refresh;
    const targets = (): Promise<void> | null =>
      firstOf([...this.#domains()].map(({ director }) => director.pending()));
    return first === null ? targets() : first.then(() => targets() ?? undefined);
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
