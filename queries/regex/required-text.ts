// Text that a subject must begin with or contain to match: "/news/" for ^/news/\d+, ".html" for \.html$. Searching
// for it costs a fraction of running JavaScript's engine, and most tests of programs and bans fail on it.

import type { ByteSet, Node } from './pattern-ast.ts';

export interface RequiredText {
  /** Empty if unknown. */
  readonly text: string;
  readonly where: 'start' | 'anywhere';
  /** The text is a sufficient condition. */
  readonly whole: boolean;
}

/** Shorter texts, such as a dot, are in too many subjects to be useful (chosen). */
const SHORTEST = 3;

export function requiredText(root: Node): RequiredText {
  const items = root.t === 'cat' ? root.items : [root];
  const [first] = items;
  const bytes = items.map((item) => (item.t === 'set' ? onlyByte(item.set) : -1));
  if (first?.t === 'assert' && first.kind === 'start') {
    const end = bytes.indexOf(-1, 1);
    const text = textOf(bytes.slice(1, end < 0 ? undefined : end));
    if (text !== '') return { text, where: 'start', whole: end < 0 };
  }
  let longest: number[] = [];
  for (let from = 0; from < bytes.length; from++) {
    let to = from;
    while (to < bytes.length && bytes[to] !== -1) to++;
    if (to - from > longest.length) longest = bytes.slice(from, to);
    from = to;
  }
  if (longest.length < SHORTEST) return { text: '', where: 'anywhere', whole: false };
  return { text: textOf(longest), where: 'anywhere', whole: longest.length === items.length };
}

/** As a flat string: concatenated ones are flattened on first read. */
function textOf(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('latin1');
}

/** The byte of a set of one, -1 for others. */
function onlyByte(set: ByteSet): number {
  const byte = set.indexOf(1);
  return byte >= 0 && set.indexOf(1, byte + 1) < 0 ? byte : -1;
}
