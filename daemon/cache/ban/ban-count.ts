// A dry run of a ban: how many objects its expression would hit, found out in steps and without touching them.
//
// There is no request to test req.* against. Where the program's hash is URL and host, an object's key says what
// both must be; any other test on a request leaves an object undecided, unless another condition rules it out.
// Objects that come or go meanwhile may or may not be counted.

import type { CacheState } from '../cache-state.ts';
import type { Oc } from '../objcore.ts';
import * as row from '../objcore.ts';
import { type BanExpression, judge, type KnownRequest } from './ban-expression.ts';
import type { BanTester } from './ban-tester.ts';

/** Rows between two looks at the clock. */
const STRIDE = 8;

export class BanCount {
  objects = 0;
  matching = 0;
  /** Objects that may match, depending on the request. */
  undecided = 0;
  private readonly state: CacheState;
  private readonly tester: BanTester;
  private readonly expression: BanExpression;
  /** Whether keys are URL and host. */
  private readonly plainHash: boolean;
  private readonly now: number;
  private next: Oc = 1;

  constructor(
    state: CacheState,
    tester: BanTester,
    expression: BanExpression,
    plainHash: boolean,
    now: number,
  ) {
    this.state = state;
    this.tester = tester;
    this.expression = expression;
    this.plainHash = plainHash;
    this.now = now;
  }

  /** Works for a moment; true when it is done. */
  step(): boolean {
    const { objcores, millis, lock, longestStep, turns } = this.state;
    lock.enter();
    try {
      const end = millis() + longestStep;
      while (this.next < objcores.end) {
        this.look(this.next++);
        if (this.next % STRIDE === 0 && (millis() >= end || !turns.mayGoOn())) return false;
      }
      return true;
    } finally {
      lock.leave();
    }
  }

  private look(oc: Oc): void {
    const { expression } = this;
    const { objcores } = this.state;
    // A freed row has no references; its first words mean something else.
    if (!row.isHeld(objcores.get(oc, row.REFS)) || (objcores.get(oc, row.META) & row.OF_INDEXED) === 0)
      return;
    this.objects++;
    const request = expression.usesRequest ? this.requestOf(oc) : UNKNOWN;
    const verdict = judge(expression, this.tester.subjectOf(oc, this.now), request);
    if (verdict === null) this.undecided++;
    else if (verdict) this.matching++;
  }

  private requestOf(oc: Oc): KnownRequest {
    const { objcores, objheads } = this.state;
    return this.plainHash ? inKey(objheads.keyOf(objcores.get(oc, row.OBJHEAD))) : UNKNOWN;
  }
}

const UNKNOWN: KnownRequest = { url: null, host: null };

/** URL and host in a key as the builtin vcl_hash makes it. */
function inKey(key: string): KnownRequest {
  const first = key.indexOf('\0');
  const second = key.indexOf('\0', first + 1);
  // Nothing comes after the second.
  if (first < 0 || second < 0 || second !== key.length - 1) return UNKNOWN;
  return { url: key.slice(0, first), host: key.slice(first + 1, second) };
}
