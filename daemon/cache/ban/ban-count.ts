// A dry run of a ban: how many objects its expression would hit, found out in steps and without touching them.
//
// There is no request to test req.* against. What it would have to be is in an object's key where the program's
// hash is URL and host; anything else leaves an object undecided, unless another condition rules it out.
// Objects that come or go meanwhile may or may not be counted.

import type { Oc } from '../objcore.ts';
import * as row from '../objcore.ts';
import type { Rows } from '../rows.ts';
import { type BanExpression, type BanSubject, judge, type KnownRequest } from './ban-expression.ts';

/** Milliseconds of a step. */
const STEP = 2;
/** Rows between two looks at the clock. */
const STRIDE = 32;

export class BanCount {
  objects = 0;
  matching = 0;
  /** Objects that may match, depending on the request. */
  undecided = 0;
  private readonly rows: Rows;
  private readonly expression: BanExpression;
  private readonly subject: (oc: Oc, now: number) => BanSubject;
  private readonly keyOf: (oc: Oc) => string;
  private readonly millis: () => number;
  private readonly now: number;
  private next: Oc = 1;

  /** `keyOf` is null where keys are not URL and host. */
  constructor(o: {
    rows: Rows;
    expression: BanExpression;
    subject: (oc: Oc, now: number) => BanSubject;
    keyOf: ((oc: Oc) => string) | null;
    millis: () => number;
    now: number;
  }) {
    this.rows = o.rows;
    this.expression = o.expression;
    this.subject = o.subject;
    this.keyOf = o.keyOf ?? (() => '');
    this.millis = o.millis;
    this.now = o.now;
  }

  /** Works for a moment; true when it is done. */
  step(): boolean {
    const end = this.millis() + STEP;
    while (this.next < this.rows.end) {
      this.look(this.next++);
      if (this.next % STRIDE === 0 && this.millis() >= end) return false;
    }
    return true;
  }

  private look(oc: Oc): void {
    const { rows, expression } = this;
    // A freed row has no references; its first words mean something else.
    if (rows.get(oc, row.REFS) === 0 || (rows.get(oc, row.META) & row.OF_INDEXED) === 0) return;
    this.objects++;
    const request = expression.usesRequest ? inKey(this.keyOf(oc)) : UNKNOWN;
    const verdict = judge(expression, this.subject(oc, this.now), request);
    if (verdict === null) this.undecided++;
    else if (verdict) this.matching++;
  }
}

const UNKNOWN: KnownRequest = { url: null, host: null };

/** URL and host in a key as the builtin vcl_hash makes it. */
function inKey(key: string): KnownRequest {
  const first = key.indexOf('\0');
  const second = key.indexOf('\0', first + 1);
  // Nothing comes behind the second.
  if (first < 0 || second < 0 || second !== key.length - 1) return UNKNOWN;
  return { url: key.slice(0, first), host: key.slice(first + 1, second) };
}
