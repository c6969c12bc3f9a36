// Colours of source lines: the text stays, and what reaches over several lines is known in each of them.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { colouredLine, type Within } from '../../../../console/views/programs/source-colours.ts';

/** Coloured texts as tone:text. */
function colours(source: string): string[] {
  let within: Within = '';
  return source.split('\n').flatMap((line) => {
    const found = colouredLine(line, within);
    within = found.within;
    return found.pieces.filter(({ tone }) => tone !== 'text').map(({ tone, text }) => `${tone}:${text}`);
  });
}

it('distinguishes words, strings and comments', () => {
  expect(colours('sub vcl_recv { set req.url = "/sub # no"; } # if "x"')).toEqual([
    'accent:sub',
    'accent:vcl_recv',
    'accent:set',
    'good:"/sub # no"',
    'faint:# if "x"',
  ]);
  expect(colours('a /* set\nif */ return (pass); // end')).toEqual([
    'faint:/* set',
    'faint:if */',
    'accent:return',
    'faint:// end',
  ]);
  expect(colours('synthetic({"<p>\nset\n"} + """if"""); req.http.set = 1 / 2;')).toEqual([
    'accent:synthetic',
    'good:{"<p>',
    'good:set',
    'good:"}',
    'good:"""if"""',
  ]);
});

it('keeps every character of any line', () => {
  const line = fc.string({ unit: fc.constantFrom('"', '{', '}', '/', '*', '#', 'a', ' ', 'C', 'é', 'if') });
  fc.assert(
    fc.property(line, fc.constantFrom<Within>('', '*/', '"}', '"""'), (text, within) => {
      expect(
        colouredLine(text, within)
          .pieces.map((piece) => piece.text)
          .join(''),
      ).toBe(text);
    }),
  );
});
