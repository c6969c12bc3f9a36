// Adds and lists bans, and tries them. Objects are tested at their next lookup or by the lurker.

import type { CacheState } from '../cache-state.ts';
import type { Oc } from '../objcore.ts';
import * as row from '../objcore.ts';
import { ObjectWalk } from '../object-walk.ts';
import type { Ban } from './ban.ts';
import { type BanExpression, judge, type KnownRequest, parseBan, parseBanText } from './ban-expression.ts';
import type { BanSource } from './ban-list.ts';
import type { BanTester } from './ban-tester.ts';

/** Bans, or objects, visited per hold of the lock. */
const PART = 32;
export class BanService {
  private readonly state: CacheState;
  private readonly tester: BanTester;

  constructor(state: CacheState, tester: BanTester) {
    this.state = state;
    this.tester = tester;
  }

  /** Adds a ban from command-line words; returns the error or null. Soft: matching objects become stale. */
  add(words: readonly string[], now: number, soft = false): string | null {
    return this.enter(parseBan(words, this.state.compileRegex), now, soft, words);
  }

  /** Adds a ban from one text, as ban() in a program has it; returns the error or null. */
  addText(text: string, now: number, soft = false): string | null {
    return this.enter(parseBanText(text, this.state.compileRegex), now, soft, text);
  }

  /** A dry run of a ban, to be done step by step; a string is the error. `plainHash`: keys are URL and host. */
  count(words: readonly string[], now: number, plainHash: boolean): BanCount | string {
    const expression = parseBan(words, this.state.compileRegex);
    if (typeof expression === 'string') return expression;
    return new BanCount(this.state, this.tester, expression, plainHash, now);
  }

  /** All bans, newest first. A caller that takes several turns does not see bans that are added meanwhile, and may see
   * dropped ones. */
  *list(): Generator<Ban> {
    const { bans, lock } = this.state;
    let next: Ban | null = lock.hold(() => bans.last);
    while (next !== null) {
      const part: Ban[] = [];
      lock.hold(() => {
        for (; next !== null && part.length < PART; next = next.older) part.push(next);
      });
      yield* part;
    }
  }

  /** For each ban the objects that were last tested against it. Visits every object: for debugging. */
  async objectsByBan(): Promise<(ban: Ban) => readonly Oc[]> {
    const { objcores, turns, lock } = this.state;
    const found = new Map<number, Oc[]>();
    const visit = (oc: Oc): void => {
      const number = row.isHeld(objcores.get(oc, row.REFS)) ? objcores.get(oc, row.BAN) : 0;
      if (number === 0) return;
      const same = found.get(number);
      if (same === undefined) found.set(number, [oc]);
      else same.push(oc);
    };
    for (let oc = 1, end = 2; oc < end; ) {
      lock.hold(() => {
        end = objcores.end;
        for (const stop = Math.min(end, oc + PART); oc < stop; oc++) visit(oc);
      });
      if (!turns.mayContinue()) await turns.next();
    }
    return (ban) => found.get(ban.number) ?? [];
  }

  /** Drops bans that no object refers to, after they were listed. */
  tidy(): void {
    this.state.lock.hold(() => this.state.bans.dropTail());
  }

  private enter(
    parsed: BanExpression | string,
    now: number,
    soft: boolean,
    source: BanSource,
  ): string | null {
    if (typeof parsed === 'string') return parsed;
    this.state.lock.hold(() => {
      if (soft) this.state.notBefore(now);
      this.state.bans.add(parsed, now, this.state.limits.banDups, soft, source);
      this.state.tier?.invalidated('ban', JSON.stringify(source));
    });
    return null;
  }
}

/**
 * A dry run of a ban: counts the objects that its expression matches, in steps and without touching them.
 *
 * There is no request for req.* tests. Where the program's hash is URL and host, an object's key has both; any other test
 * on a request leaves an object undecided, unless another condition rules it out. Objects that come or go meanwhile may or
 * may not be counted.
 */

export class BanCount extends ObjectWalk {
  matching = 0;
  /** Objects whose match depends on the request. */
  undecided = 0;
  private readonly tester: BanTester;
  private readonly expression: BanExpression;
  /** Whether keys are URL and host. */
  private readonly plainHash: boolean;
  private readonly now: number;

  constructor(
    state: CacheState,
    tester: BanTester,
    expression: BanExpression,
    plainHash: boolean,
    now: number,
  ) {
    super(state);
    this.tester = tester;
    this.expression = expression;
    this.plainHash = plainHash;
    this.now = now;
  }

  protected look(oc: Oc): void {
    const { expression } = this;
    const request = expression.usesRequest ? this.requestOf(oc) : UNKNOWN;
    const verdict = judge(expression, this.tester.subjectOf(oc, this.now), request);
    if (verdict === null) this.undecided++;
    else if (verdict) this.matching++;
  }

  private requestOf(oc: Oc): KnownRequest {
    const { objcores, objheads } = this.state;
    return this.plainHash ? requestIn(objheads.keyOf(objcores.get(oc, row.OBJHEAD))) : UNKNOWN;
  }
}

const UNKNOWN: KnownRequest = { url: null, host: null };

/** URL and host of a key made by the builtin vcl_hash. */
function requestIn(key: string): KnownRequest {
  const first = key.indexOf('\0');
  const second = key.indexOf('\0', first + 1);
  // The second terminator ends the key.
  if (first < 0 || second < 0 || second !== key.length - 1) return UNKNOWN;
  return { url: key.slice(0, first), host: key.slice(first + 1, second) };
}
