// Cuts one field out of a record: the text between blanks, or between double quotes that begin a field. As in
// Varnish, a quote cannot be escaped; without a closing one there is no field, and if no blank follows it there are
// no more. Special case: a pair of quotes is an empty field here; varnishlog aborts.

import { isBlank } from './number.ts';

const QUOTE = 34;

/** Holds the position of the last field; reused for every record. */
export class FieldCut {
  from = 0;
  to = 0;

  /**
   * Finds the nth field of the bytes between `from` and `to`; false if there is none.
   * @param n counts from 1
   */
  find(b: Uint8Array, from: number, to: number, n: number): boolean {
    let at = from;
    for (let i = 0; i < n; i++) {
      while (at < to && isBlank(b[at] as number)) at++;
      if (at === to) return false;
      if (b[at] === QUOTE) {
        this.from = at + 1;
        this.to = b.indexOf(QUOTE, at + 1);
        if (this.to < 0 || this.to >= to) return false;
        at = this.to + 1;
        if (i + 1 < n && at < to && !isBlank(b[at] as number)) return false;
      } else {
        this.from = at;
        while (at < to && !isBlank(b[at] as number)) at++;
        this.to = at;
      }
    }
    return true;
  }
}
