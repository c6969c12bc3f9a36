// Old or sloppy forms of a message that have only one reading and are therefore accepted: one row each, and those found
// in one message. A reader of a form notes it here, for the log. A note changes no reading.
//
// A form without a row is an error: SAFETY rule 9 lists the accepted ones.

/** The text for each form; the place where it was first found follows. */
const LENIENCIES = {
  'bare-lf': 'LF without CR ends',
  fold: 'continuation line joined to',
  'length-repeated': 'Content-Length repeated as',
  'coding-http10': 'chunks from HTTP/1.0 as',
  'chunk-blank': 'blank after the size of',
  'chunk-lf': 'LF without CR ends',
  'trailer-lf': 'LF without CR ends',
  'trailer-fold': 'continuation line dropped with',
} as const;

export type Leniency = keyof typeof LENIENCIES;

/** The lenient forms found in one message. One object per connection, reused. */
export class Leniencies {
  /** By form: the first place, and the number of times. */
  private readonly met = new Map<Leniency, { readonly first: string; times: number }>();

  get any(): boolean {
    return this.met.size > 0;
  }

  /** @param where the place, as a text that completes the row's */
  note(form: Leniency, where: string): void {
    const before = this.met.get(form);
    if (before === undefined) this.met.set(form, { first: where, times: 1 });
    else before.times++;
  }

  reset(): void {
    if (this.met.size > 0) this.met.clear();
  }

  /** `LF without CR ends line 1 (and 3 more), continuation line joined to line 4 (header X-A)`. */
  get text(): string {
    const texts = [...this.met].map(([form, { first, times }]) => {
      const more = times > 1 ? ` (and ${times - 1} more)` : '';
      return `${LENIENCIES[form]} ${first}${more}`;
    });
    return texts.join(', ');
  }
}
