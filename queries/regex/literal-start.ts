// What a subject must begin with for an expression to match: "/news/" for ^/news/\d+. To look at its first characters costs a
// tenth of asking JavaScript's engine, and most of a program's expressions fail on them.

import type { ByteSet, Node } from './pattern-ast.ts';

export interface LiteralStart {
  /** Empty where nothing is known. */
  readonly text: string;
  /** It is all that the expression asks for. */
  readonly whole: boolean;
}

const NONE: LiteralStart = { text: '', whole: false };

export function literalStart(root: Node): LiteralStart {
  if (root.t !== 'cat') return NONE;
  const [anchor, ...rest] = root.items;
  if (anchor?.t !== 'assert' || anchor.kind !== 'start') return NONE;
  const bytes = rest.map((item) => (item.t === 'set' ? onlyByte(item.set) : -1));
  const end = bytes.indexOf(-1);
  // In one piece: what is concatenated is flattened when it is first read.
  const text = Buffer.from(end < 0 ? bytes : bytes.slice(0, end)).toString('latin1');
  return { text, whole: end < 0 && text !== '' };
}

/** The byte of a set with one, -1 for others. */
function onlyByte(set: ByteSet): number {
  const byte = set.indexOf(1);
  return byte >= 0 && set.indexOf(1, byte + 1) < 0 ? byte : -1;
}
