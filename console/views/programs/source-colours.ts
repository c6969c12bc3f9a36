// Colours of source lines in VCL: comments, strings, and the words of the language. A scanner of words, not a parser: a
// program that does not compile has its colours, too.

import type { ToneText } from '../../model/ui/panel.ts';

/** State at the beginning of a line: nothing, a block comment, or a long string until its end mark. */
export type Within = '' | '*/' | '"}' | '"""';

const WORDS = new Set(
  'vcl import include sub acl backend probe if else elseif elsif elif set unset call return new synthetic error hash_data from none default true false'.split(
    ' ',
  ),
);

const PIECE = /#.*|\/\/.*|\/\*|\{"|"""|"[^"]*"?|C\{|[A-Za-z_][\w.-]*|[^#/"{A-Za-z_]+|./y;

/** The pieces of a line, whose texts are the line. */
export function colouredLine(text: string, from: Within): { pieces: ToneText[]; within: Within } {
  const pieces: ToneText[] = [];
  let within = from;
  let at = 0;
  const until = (end: Exclude<Within, ''>, start: number): void => {
    const close = text.indexOf(end, start);
    const to = close < 0 ? text.length : close + end.length;
    pieces.push({ text: text.slice(at, to), tone: end === '*/' ? 'faint' : 'good' });
    within = close < 0 ? end : '';
    at = to;
  };
  while (at < text.length) {
    if (within !== '') {
      until(within, at);
      continue;
    }
    PIECE.lastIndex = at;
    const piece = PIECE.exec(text)?.[0] ?? text.slice(at);
    if (piece === '/*') until('*/', at + 2);
    else if (piece === '{"') until('"}', at + 2);
    else if (piece === '"""') until('"""', at + 3);
    else {
      if (piece.startsWith('#') || piece.startsWith('//')) pieces.push({ text: piece, tone: 'faint' });
      else if (piece.startsWith('"')) pieces.push({ text: piece, tone: 'good' });
      else if (WORDS.has(piece) || /^vcl_\w+$/.test(piece)) pieces.push({ text: piece, tone: 'accent' });
      else addPlain(pieces, piece);
      at += piece.length;
    }
  }
  return { pieces, within };
}

function addPlain(pieces: ToneText[], text: string): void {
  const last = pieces.at(-1);
  if (last?.tone === 'text') pieces[pieces.length - 1] = { text: last.text + text, tone: 'text' };
  else pieces.push({ text, tone: 'text' });
}
