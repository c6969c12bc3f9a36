// Sets and lists bans. A ban is remembered, and each object is tested against it at its next lookup or by the lurker.

import type { CacheState } from '../cache-state.ts';
import type { Oc } from '../objcore.ts';
import * as row from '../objcore.ts';
import type { Bans } from '../roles.ts';
import { BanCount } from './ban-count.ts';
import { type BanExpression, parseBan, parseBanText } from './ban-expression.ts';
import type { Ban, BanSource } from './ban-list.ts';
import type { BanTester } from './ban-tester.ts';

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

  list(): Iterable<Ban> {
    return [...this.state.bans];
  }

  objectsOf(ban: Ban): Oc[] {
    const { objcores } = this.state;
    const found: Oc[] = [];
    for (let oc = 1; oc < objcores.end; oc++) {
      if (row.isHeld(objcores.get(oc, row.REFS)) && objcores.get(oc, row.BAN) === ban.number) found.push(oc);
    }
    return found;
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
