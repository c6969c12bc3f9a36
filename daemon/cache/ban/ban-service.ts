// Sets and lists bans. A ban is remembered, and each object is tested against it at its next lookup or by the lurker.

import type { CacheState } from '../cache-state.ts';
import type { Oc } from '../objcore.ts';
import * as row from '../objcore.ts';
import type { Bans } from '../roles.ts';
import type { Ban } from './ban.ts';
import { BanCount } from './ban-count.ts';
import { type BanExpression, parseBan, parseBanText } from './ban-expression.ts';
import type { BanSource } from './ban-list.ts';
import type { BanTester } from './ban-tester.ts';

/** Bans, or objects, that are looked at under one taking of the lock. */
const PART = 32;

export class BanService implements Bans {
  private readonly state: CacheState;
  private readonly tester: BanTester;

  constructor(state: CacheState, tester: BanTester) {
    this.state = state;
    this.tester = tester;
  }

  add(words: readonly string[], now: number, soft = false): string | null {
    return this.enter(parseBan(words, this.state.compileRegex), now, soft, words);
  }

  addText(text: string, now: number, soft = false): string | null {
    return this.enter(parseBanText(text, this.state.compileRegex), now, soft, text);
  }

  count(words: readonly string[], now: number, plainHash: boolean): BanCount | string {
    const expression = parseBan(words, this.state.compileRegex);
    if (typeof expression === 'string') return expression;
    return new BanCount(this.state, this.tester, expression, plainHash, now);
  }

  *list(): Generator<Ban> {
    const { bans, lock } = this.state;
    let next: Ban | null = null;
    let part: Ban[] = [];
    do {
      lock.enter();
      try {
        if (part.length === 0) next = bans.last;
        for (part = []; next !== null && part.length < PART; next = next.older) part.push(next);
      } finally {
        lock.leave();
      }
      yield* part;
    } while (next !== null);
  }

  async objectsByBan(): Promise<(ban: Ban) => readonly Oc[]> {
    const { objcores, turns, lock } = this.state;
    const found = new Map<number, Oc[]>();
    const look = (oc: Oc): void => {
      const number = row.isHeld(objcores.get(oc, row.REFS)) ? objcores.get(oc, row.BAN) : 0;
      if (number === 0) return;
      const same = found.get(number);
      if (same === undefined) found.set(number, [oc]);
      else same.push(oc);
    };
    for (let oc = 1, end = 2; oc < end; ) {
      lock.enter();
      try {
        end = objcores.end;
        for (const stop = Math.min(end, oc + PART); oc < stop; oc++) look(oc);
      } finally {
        lock.leave();
      }
      if (!turns.mayGoOn()) await turns.next();
    }
    return (ban) => found.get(ban.number) ?? [];
  }

  tidy(): void {
    this.state.bans.dropTail();
  }

  private enter(
    parsed: BanExpression | string,
    now: number,
    soft: boolean,
    source: BanSource,
  ): string | null {
    if (typeof parsed === 'string') return parsed;
    if (soft) this.state.notBefore(now);
    this.state.bans.add(parsed, now, this.state.limits.banDups, soft, source);
    return null;
  }
}
