// The log of one test, in the form of varnishtest's: a mark for the level, who, text; lines of dT say
// the seconds since the test began.

const MARKS = ['----', '*   ', '**  ', '*** ', '****'] as const;
export type Level = 0 | 1 | 2 | 3 | 4;
/** Characters of a log, and of one dump in it (chosen). */
const MOST = 8_000_000;
const MOST_DUMPED = 4000;

export class TestLog {
  readonly #began: number;
  #text = '';
  /** Seconds of the last time line. */
  #shown = '';
  #isCut = false;

  constructor() {
    this.#began = performance.now();
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1000;
  }

  get text(): string {
    return this.#text;
  }

  /** Level 0 is a failure. */
  add(who: string, level: Level, text: string): void {
    if (this.#text.length > MOST) {
      if (!this.#isCut) this.#text += '---- top    log is longer than 8 MB, cut\n';
      this.#isCut = true;
      return;
    }
    const now = this.seconds.toFixed(3);
    if (now !== this.#shown) this.#text += `**** dT    ${now}\n`;
    this.#shown = now;
    const head = `${MARKS[level]} ${who.padEnd(5)} `;
    this.#text += text
      .split('\n')
      .map((line) => `${head}${line.replaceAll('\r', '\\r')}\n`)
      .join('');
  }

  /** Bytes that were sent or received. */
  dump(who: string, level: Level, what: string, data: string | Uint8Array): void {
    const all = typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
    const cut = all.length > MOST_DUMPED ? `${all.slice(0, MOST_DUMPED)} [... ${all.length} bytes]` : all;
    const shown = cut.replace(
      /[^\x20-\x7e\r\n\t]/g,
      (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`,
    );
    this.add(
      who,
      level,
      shown
        .split('\n')
        .map((line) => `${what}|${line}`)
        .join('\n'),
    );
  }
}
