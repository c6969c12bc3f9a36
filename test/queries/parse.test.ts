import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkQuery, completeQuery } from '../../queries/complete.ts';
import { countParses, formatQueryError, parseQuery } from '../../queries/parse.ts';
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
        for (let i = 0; i <= text.length; i += 5) completeQuery(text, i);
      }),
    );
  });
});

describe('help while typing', () => {
  it('says what could stand at the error', () => {
    const check = checkQuery('RespStatus == 200 x');
    expect(check).toMatchObject({ ok: false, from: 18, to: 19, message: "Expected EOI got 'x'" });
    expect(check.ok ? [] : check.expected).toEqual(expect.arrayContaining(['and', 'or']));
    expect(checkQuery('RespStatus == 200')).toEqual({ ok: true });
    expect(checkQuery('')).toMatchObject({ ok: false, from: 0, to: 0 });
  });

  it('completes tags, field names, ids and operators', () => {
    expect(completeQuery('BerespS', 7)).toEqual({ from: 0, candidates: ['BerespStatus'] });
    expect(completeQuery('ReqURL and vx', 13)).toEqual({ from: 11, candidates: ['vxid'] });
    expect(completeQuery('ReqHeader:us', 12, { headers: ['Host', 'User-Agent'] })).toEqual({
      from: 10,
      candidates: ['User-Agent'],
    });
    expect(completeQuery('vxid == ', 8, { ids: [2, 30] })).toEqual({ from: 8, candidates: ['2', '30'] });
    expect(completeQuery('ReqURL ', 7).candidates).toEqual(expect.arrayContaining(['==', '~', 'eq', 'and']));
    expect(completeQuery('(ReqURL == 1 ', 13).candidates).toEqual(expect.arrayContaining([')', 'and', 'or']));
  });
});
