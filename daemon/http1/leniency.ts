// Old or sloppy forms of a message that have one reading only and are therefore read, not refused: one row each, and
// what of them was met in one message. Whoever reads a form notes it here; whoever logs asks for the text. Nothing is
// read differently because of what was noted.
//
// What is not a row is an error: SAFETY rule 9 lists what may be read.

/** How each form is told: `first` stands for where it was met first. */
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

/** What was read leniently in one message. One object a connection, reused. */
export class Leniencies {
  /** By form: where it was met first, and how often. */
  private readonly met = new Map<Leniency, { readonly first: string; times: number }>();

  get any(): boolean {
    return this.met.size > 0;
  }

  /** @param where what was read so, in words that follow those of the row */
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
    const told = [...this.met].map(([form, { first, times }]) => {
      const more = times > 1 ? ` (and ${times - 1} more)` : '';
      return `${LENIENCIES[form]} ${first}${more}`;
    });
    return told.join(', ');
  }
}
