// The text of a recording: one fact a line, so that two recordings are compared line by line. A value of strings,
// numbers, lists and records becomes lines whose depth is their number of leading blanks: a list says "[" and has its
// items below it, a record "{" and "name: value", a text of several lines "|". It reads only texts that it wrote; the
// difficult case is a string that looks like one of its own marks: that one is written as JSON.

export type Told = string | number | boolean | null | readonly Told[] | { readonly [name: string]: Told };

export interface Entry {
  /** A short hash of the input. */
  input: string;
  reported: Told;
}

const HEAD = '## ';
/** Nothing that is taken for a mark, and no character that an editor hides. */
const PLAIN = /^(?![[{|"=]?$|["= ])[\x20-\x7e\xa0-\uffff]*[^\s]$/;
const PLAIN_NAME = /^[\w./-]+$/;

function line(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text);
}

function write(reported: Told, depth: number, name: string, out: string[]): void {
  const put = (text: string): void => {
    out.push(`${' '.repeat(depth)}${name}${text}`);
  };
  if (typeof reported === 'string') {
    if (reported.includes('\n')) {
      put('|');
      for (const each of reported.split('\n')) out.push(`${' '.repeat(depth + 1)}${line(each)}`);
    } else put(line(reported));
  } else if (reported === null || typeof reported !== 'object') put(`=${JSON.stringify(reported)}`);
  else if (Array.isArray(reported)) {
    put('[');
    for (const each of reported as readonly Told[]) write(each, depth + 1, '', out);
  } else {
    put('{');
    for (const [key, each] of Object.entries(reported)) {
      if (each !== undefined)
        write(each, depth + 1, `${PLAIN_NAME.test(key) ? key : JSON.stringify(key)}: `, out);
    }
  }
}

/** @param head says in one line who answered */
export function recordingText(head: string, entries: ReadonlyMap<string, Entry>): string {
  const out = [head];
  for (const [key, { input, reported }] of entries) {
    out.push('', `${HEAD}${input} ${line(key)}`);
    write(reported, 0, '', out);
  }
  return `${out.join('\n')}\n`;
}

class Lines {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** The next line of this depth without its blanks, or null where the lines above end. */
  take(depth: number): string | null {
    const text = this.#lines[this.#at];
    if (text === undefined || !text.startsWith(' '.repeat(depth))) return null;
    this.#at++;
    return text.slice(depth);
  }

  list<T>(depth: number, each: (text: string) => T): T[] {
    const all: T[] = [];
    for (let text = this.take(depth); text !== null; text = this.take(depth)) all.push(each(text));
    return all;
  }
}

function string(text: string): string {
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

function value(text: string, depth: number, lines: Lines): Told {
  if (text === '|') return lines.list(depth + 1, string).join('\n');
  if (text === '[') return lines.list(depth + 1, (item) => value(item, depth + 1, lines));
  if (text === '{') {
    const members = lines.list(depth + 1, (member) => {
      const [, quoted, plain, rest = ''] = /^(?:("(?:[^"\\]|\\.)*")|([\w./-]+)): (.*)$/s.exec(member) ?? [];
      const name = quoted === undefined ? (plain ?? '') : (JSON.parse(quoted) as string);
      return [name, value(rest, depth + 1, lines)] as const;
    });
    return Object.fromEntries(members);
  }
  return text.startsWith('=') ? (JSON.parse(text.slice(1)) as Told) : string(text);
}

/** The first line of a recording, and its entries by key. */
export function readRecording(text: string): { head: string; entries: Map<string, Entry> } {
  const [head = '', ...parts] = text.replace(/\n$/, '').split(`\n\n${HEAD}`);
  const entries = parts.map((part): [string, Entry] => {
    const [title = '', first = '', ...rest] = part.split('\n');
    return [
      string(title.slice(title.indexOf(' ') + 1)),
      { input: title.slice(0, title.indexOf(' ')), reported: value(first, 0, new Lines(rest)) },
    ];
  });
  return { head, entries: new Map(entries) };
}
