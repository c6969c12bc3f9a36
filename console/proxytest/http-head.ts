// Heads of HTTP/1 as scripts look at them: split leniently, since scripts receive broken ones on purpose.

/** Three words of the first line (a missing reason is null), then the header lines as they came. */
export interface Head {
  readonly first: readonly [string, string, string | null];
  readonly fields: readonly string[];
}

/** Bytes of a head in `data` up to its empty line, or -1 while it is not there. */
export function headLength(data: Uint8Array): number {
  // 0: in a line, 1: CR, 2: end of a line, 3: CR after it.
  let state = 0;
  for (let i = 0; i < data.length; i++) {
    const c = data[i];
    if (c === 0x0d && state === 0) state = 1;
    else if (c === 0x0a && (state === 0 || state === 1)) state = 2;
    else if (c === 0x0d && state === 2) state = 3;
    else if (c === 0x0a && (state === 2 || state === 3)) return i + 1;
    else state = 0;
  }
  return -1;
}

/** Null if the first line has fewer than two words. */
export function splitHead(text: string): Head | null {
  const lines = text.replace(/^\s+/, '').split(/\r?\n/);
  const first = /^([^ \t\r]+)[ \t]+([^ \t\r]*)(?:[ \t]+(.*))?$/.exec(lines[0] ?? '');
  if (first === null) return null;
  const end = lines.indexOf('', 1);
  return {
    first: [first[1] as string, first[2] as string, first[3] ?? null],
    fields: lines.slice(1, end < 0 ? undefined : end),
  };
}

/** The value of the first header of a name, whatever its case; null without one. */
export function fieldOf(head: Head | null, name: string): string | null {
  const begin = `${name.toLowerCase()}:`;
  const line = head?.fields.find((field) => field.slice(0, begin.length).toLowerCase() === begin);
  return line === undefined ? null : line.slice(begin.length).replace(/^[ \t]+/, '');
}

export function countOf(head: Head, name: string): number {
  const begin = `${name.toLowerCase()}:`;
  return head.fields.filter((field) => field.slice(0, begin.length).toLowerCase() === begin).length;
}
