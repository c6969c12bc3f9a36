// The expectations of a logexpect, matched against the records of the log in turn.

import type { BoundedRegex } from '../../queries/regex/bounded-regex.ts';
import type { LogLine } from './log-records.ts';

/** Records that may be skipped; `alternative` is one of a block in any order. */
export type Skip = number | 'any' | 'alternative';

export interface Pattern {
  /** For the log. */
  readonly shown: string;
  readonly vxid: number | 'any' | 'last';
  readonly tag: string | 'any' | 'last';
  readonly text: BoundedRegex | null;
}

export type Expectation =
  | { readonly kind: 'expect'; readonly skip: Skip; readonly pattern: Pattern }
  | { readonly kind: 'fail'; readonly pattern: Pattern }
  | { readonly kind: 'clear'; readonly pattern: Pattern };

export class LogMatcher {
  readonly #list: readonly Expectation[];
  readonly #note: (text: string) => void;
  /** Alternatives that have been met. */
  readonly #met = new Set<number>();
  #unwanted: Pattern[] = [];
  #at = -1;
  #skipped = 0;
  #last: LogLine | null = null;
  /** Null while more is expected. */
  result: boolean | null = null;
  /** The reason of a failure. */
  why = '';

  constructor(list: readonly Expectation[], note: (text: string) => void) {
    this.#list = list;
    this.#note = note;
    this.#advance();
  }

  /** The next expectation, for messages. */
  get outstanding(): string {
    return this.#list[this.#at]?.pattern.shown ?? 'fail clear';
  }

  #advance(): void {
    for (;;) {
      const now = this.#list[this.#at];
      // Other alternatives came first: this one is still expected.
      const stays = now?.kind === 'expect' && now.skip === 'alternative' && !this.#met.has(this.#at);
      if (!stays) this.#at++;
      const next = this.#list[this.#at];
      if (next === undefined) break;
      if (this.#met.has(this.#at)) continue;
      if (next.kind === 'clear') this.#unwanted = [];
      else if (next.kind === 'fail') this.#unwanted.push(next.pattern);
      else {
        this.#note(`test | ${next.pattern.shown}`);
        break;
      }
    }
    if (this.#at >= this.#list.length && this.#unwanted.length === 0) this.result = true;
  }

  #meets({ vxid, tag, text }: Pattern, line: LogLine): { all: boolean; vxid: boolean } {
    const sameVxid =
      vxid === 'any' ? null : vxid === 'last' ? this.#last?.vxid === line.vxid : vxid === line.vxid;
    let all = sameVxid ?? true;
    if (tag === 'last') all &&= this.#last?.tag === line.tag;
    else if (tag !== 'any') {
      all &&= tag.toLowerCase() === line.tag.toLowerCase();
      if (all && text !== null) all = text.exec(line.text) !== null;
    }
    return { all, vxid: sameVxid ?? false };
  }

  #shown({ vxid, tag, side, text }: LogLine): string {
    return `${String(vxid).padStart(10)} ${tag.padEnd(15)} ${side} ${text}`;
  }

  #match(index: number, line: LogLine): 'met' | 'skipped' | 'wrong' {
    const { skip, pattern } = this.#list[index] as Extract<Expectation, { kind: 'expect' }>;
    const meets = this.#meets(pattern, line);
    if (meets.all) {
      this.#note(`match| ${this.#shown(line)}`);
      if (skip === 'alternative') this.#met.add(index);
      return 'met';
    }
    if (skip === 'alternative') {
      let next = index + 1;
      while (this.#met.has(next)) next++;
      const other = this.#list[next];
      if (other?.kind === 'expect' && other.skip === 'alternative') return this.#match(next, line);
    } else {
      // The transaction that was asked for is over.
      const isOver = meets.vxid && line.tag === 'End';
      if (!isOver && (skip === 'any' || skip > this.#skipped)) return 'skipped';
    }
    this.#note(`err  | ${this.#shown(line)}`);
    return 'wrong';
  }

  take(line: LogLine): void {
    if (this.result !== null || line.tag === 'Witness' || line.tag === '_Batch') return;
    if (this.#unwanted.some((pattern) => this.#meets(pattern, line).all)) {
      this.result = false;
      this.why = `unwanted record: ${line.vxid} ${line.tag} ${line.text}`;
      this.#note(`fail | ${this.#shown(line)}`);
      return;
    }
    if (this.#at >= this.#list.length) return;
    const outcome = this.#match(this.#at, line);
    if (outcome === 'skipped') this.#skipped++;
    else if (outcome === 'wrong') {
      this.result = false;
      this.why = `wanted <${this.outstanding}>, found ${line.vxid} ${line.tag} ${line.text}`;
    } else {
      this.#last = line;
      this.#skipped = 0;
      this.#advance();
    }
  }
}
