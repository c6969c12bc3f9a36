// Records out of the text that the log's reader writes with -v: lines of records, headings of transactions, empty lines.

export interface LogLine {
  readonly vxid: number;
  readonly tag: string;
  /** c, b or -. */
  readonly side: string;
  readonly text: string;
}

const RECORD = /^(?:(?:-{1,3} {1,3}|-\d+- ))? *(\d+) (\S+) +([cb-]) (.*)$/s;
const HEADING = /^(?:\*{1,3} |\*\d+\* )\s*<< /;
/** Their text is shown in quotes, with unprintable characters as %xx. */
const QUOTED = new Set(['Debug', 'HttpGarbage', 'Hash']);

export class LogText {
  #record: { vxid: number; tag: string; side: string; text: string } | null = null;

  /** @returns the records that are complete after this line */
  line(line: string): LogLine[] {
    const record = RECORD.exec(line);
    if (record !== null) {
      const done = this.finish();
      const [, vxid, tag, side, text] = record as unknown as [string, string, string, string, string];
      this.#record = { vxid: Number(vxid), tag, side, text };
      return done;
    }
    if (HEADING.test(line)) return this.finish();
    if (this.#record !== null) this.#record.text += `\n${line}`;
    return [];
  }

  /** The record that further lines might have belonged to. */
  finish(): LogLine[] {
    const record = this.#record;
    this.#record = null;
    if (record === null) return [];
    let text = record.text.replace(/\n+$/, '');
    if (QUOTED.has(record.tag) && /^".*"$/s.test(text))
      text = text
        .slice(1, -1)
        .replaceAll(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
        .replace(/\0$/, '');
    return [{ ...record, text }];
  }
}

/** Whether a line begins a group: the heading of its first transaction. */
export function beginsGroup(line: string): boolean {
  return /^\* {3}<<|^\*1\* <</.test(line);
}
