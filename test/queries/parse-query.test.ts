import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countParses, expectedAfter, formatQueryError, parseQuery } from '../../queries/parse-query.ts';
import { BAD, GOOD } from './queries.ts';

function error(text: string): string {
  const parsed = parseQuery(text);
  return parsed.ok ? 'no error' : formatQueryError(text, parsed.error);
}

describe('queries', () => {
  it.each(GOOD)('%j has exactly one reading', (q) => {
    expect(parseQuery(q).ok).toBe(true);
    expect(countParses(q)).toBe(1);
  });

  it.each(BAD)('%j is refused at a place within it', (q) => {
    const parsed = parseQuery(q);
    if (parsed.ok) throw new Error('accepted');
    const { from, to, at } = parsed.error;
    expect(from).toBeLessThanOrEqual(to);
    expect(to).toBeLessThanOrEqual(q.length);
    expect(at).toBeLessThanOrEqual(q.length);
  });

  it.each([
    ['Foo', 'Tag name matches zero tags (Pos 1)\nFoo\n###\n'],
    ['ReqURL ~', "Expected regular expression got '' (Pos 9)\nReqURL ~\n--------\n"],
    [
      'ReqURL ~ "["',
      'Regular expression error: missing terminating ] for character class (Pos 11)\nReqURL ~ "["\n---------#^#\n',
    ],
    ['ReqURL eq /', 'Syntax error (Pos 11)\nReqURL eq /\n----------#\n'],
    ['ReqURL eq a/b', 'Syntax error (Pos 12)\nReqURL eq a/b\n-----------^-\n'],
    ['(ReqURL\n)', "Expected ')' got end of input (Pos 8)\n(ReqURL )\n-------#-\n"],
    ['vxid == 1.5', "Expected integer got '1.5' (Pos 9)\nvxid == 1.5\n--------^##\n"],
    ['Foo and (', 'Tag name matches zero tags (Pos 1)\nFoo and (\n###------\n'],
    ['Foo /', 'Syntax error (Pos 5)\nFoo /\n----#\n'],
    ['{1]Foo', "Expected '}' got ']' (Pos 3)\n{1]Foo\n--#---\n"],
    ['', ''],
  ])('%j says what is wrong and where', (q, text) => {
    expect(error(q)).toBe(text);
  });

  it('never throws, whatever is typed', () => {
    const piece = fc.constantFrom(
      'ReqURL',
      'vxid',
      'and',
      'or',
      'not',
      '(',
      ')',
      '{',
      '1',
      '}',
      '[',
      ']',
      ':',
      ',',
      '~',
      '==',
      'eq',
      '"a',
      '"b"',
      ' ',
      '\n',
      '\\',
      '#',
      '*',
      '/',
      '[z-a]',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const parsed = parseQuery(text);
        if (!parsed.ok) formatQueryError(text, parsed.error);
        for (let i = 0; i <= text.length; i += 5) expectedAfter(text.slice(0, i));
      }),
    );
  });
});

describe('what may follow', () => {
  const kindsAfter = (text: string): string[] => expectedAfter(text).kinds.sort();

  it('is known at every place', () => {
    expect(kindsAfter('')).toEqual(['lc', 'lp', 'not', 'string', 'vxid', 'word']);
    expect(kindsAfter('ReqURL ')).toEqual([
      'and',
      'cmp',
      'colon',
      'comma',
      'eoi',
      'eq',
      'lb',
      'ne',
      'nl',
      'or',
      're',
    ]);
    expect(kindsAfter('not (ReqURL == 1 ')).toEqual(['and', 'or', 'rp']);
    expect(kindsAfter('not ')).toEqual(['lc', 'lp', 'string', 'vxid', 'word']);
    expect(kindsAfter('ReqURL[')).toEqual(['string', 'word']);
    expect(kindsAfter('ReqURL ReqURL ')).toEqual([]);
    expect(expectedAfter('ReqHeader:').previous?.type).toBe('colon');
  });

  it('comes with an error', () => {
    const parsed = parseQuery('RespStatus == 200 x');
    expect(parsed.ok ? [] : [...parsed.expected].sort()).toEqual(['and', 'eoi', 'nl', 'or']);
  });
});
