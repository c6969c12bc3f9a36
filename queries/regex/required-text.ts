// What a subject must begin with, or have in it, for an expression to match: "/news/" for ^/news/\d+, ".html" for \.html$.
// Looking for it costs a fraction of asking JavaScript's engine, and most of what a program or a ban asks fails on it.

import type { ByteSet, Node } from './pattern-ast.ts';

export interface RequiredText {
  /** Empty where nothing is known. */
  readonly text: string;
  readonly where: 'start' | 'anywhere';
  /** It is all that the expression asks for. */
  readonly whole: boolean;
}

/** Shorter ones, such as a dot, are in too many subjects to be worth it (chosen). */
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

/** In one piece: what is concatenated is flattened when it is first read. */
function textOf(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('latin1');
}

/** The byte of a set with one, -1 for others. */
function onlyByte(set: ByteSet): number {
  const byte = set.indexOf(1);
  return byte >= 0 && set.indexOf(1, byte + 1) < 0 ? byte : -1;
}
