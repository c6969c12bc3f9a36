// vsl_mask: which tags are written at all. A byte a tag, so that the hot path tests one array element.
// The texts are those of the parameter: `default`, or a list of +Tag and -Tag; setting is relative to the
// mask as it is, and tag names match in any case.

import { MASKED_BY_DEFAULT, TAGS, Tag } from '../../protocol/tables/tags.ts';

export class LogMask {
  /** 1 for tags that are written; indexed by tag number. */
  readonly on = new Uint8Array(256).fill(1);
  /** Grows with every change; prepared records compare it. */
  epoch = 1;

  constructor() {
    this.reset();
  }

  reset(): void {
    this.on.fill(1);
    for (const name of MASKED_BY_DEFAULT) this.on[Tag[name]] = 0;
    this.epoch++;
  }

  /** Applies a parameter text; returns what is wrong with it, or null. Nothing changes on an error. */
  apply(text: string): string | null {
    const next = Uint8Array.from(this.on);
    for (const item of text.split(/[\s,]+/)) {
      if (item === '') continue;
      if (item === 'default') {
        next.fill(1);
        for (const name of MASKED_BY_DEFAULT) next[Tag[name]] = 0;
        continue;
      }
      const sign = item[0];
      if (sign !== '+' && sign !== '-') return "Missing '+' or '-'";
      const name = item.slice(1).toLowerCase();
      const tag = TAGS.findIndex((row) => row.name.toLowerCase() === name) + 1;
      if (tag === 0) return `Unknown bit (${item.slice(1)})`;
      next[tag] = sign === '+' ? 1 : 0;
    }
    this.on.set(next);
    this.epoch++;
    return null;
  }

  /** The mask as the parameter shows it: the tags that are off. */
  toString(): string {
    const off = TAGS.filter((row) => this.on[Tag[row.name]] === 0);
    return off.length === 0 ? '(all enabled)' : off.map((row) => `-${row.name}`).join(',');
  }
}
