import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PRIORITY, mergePriority, parsePriority } from '../../../daemon/http2/priority.ts';

const read = (text: string): string => {
  const { urgency, incremental } = mergePriority(parsePriority(text), DEFAULT_PRIORITY);
  return `${urgency}${incremental ? ' incremental' : ''}`;
};

const NOTHING = { urgency: null, incremental: null };

describe('a priority', () => {
  it.each([
    ['', '3'],
    ['  ', '3'],
    ['u=0', '0'],
    ['u=7', '7'],
    ['i', '3 incremental'],
    ['i=?1', '3 incremental'],
    ['i=?0', '3'],
    ['u=5, i', '5 incremental'],
    ['i,u=5', '5 incremental'],
    [' u=5 \t, \ti ', '5 incremental'],
    ['u=1, u=6', '6'],
    ['u=02', '2'],
    ['u=-0', '0'],
    ['u=2;x;y=1;z="a;b", i;q=?0', '2 incremental'],
    ['a, b=1.5, c="x\\"y,u=1", d=tok/en:x, e=:YQ==:, f=(1 "b" c;p=1), g=@12, h=%"%c3%a4", *x, u=4', '4'],
    ['f=(), u=1', '1'],
    ['f=( 1  2 );a, u=1', '1'],
  ])('of "%s" is %s', (text, priority) => {
    expect(read(text)).toBe(priority);
  });

  it.each([
    'u=8',
    'u=-1',
    'u=1.0',
    'u="1"',
    'u=?1',
    'u',
    'u=a',
    'u=(1)',
    'u=@1',
    'i=1',
    'i=a',
    'i="1"',
    'i=(?1)',
  ])('of "%s" is the default, since its member is out of range or of another type', (text) => {
    expect(read(text)).toBe('3');
    expect(read(`u=1, i, ${text}`)).toBe(text.startsWith('u') ? '3 incremental' : '1');
  });

  it.each([
    'u=1,',
    'u=1,,i',
    ',u=1',
    'u=1 i',
    'u= 1',
    'u =1',
    'u=',
    'U=1',
    'u=1;',
    'u=1;A',
    'u=1;a=',
    'u=1, x=(1',
    'u=1, x=(1"a")',
    'u=1, x=(1,2)',
    'u=1, x="a',
    'u=1, x="\\a"',
    'u=1, x=:a',
    'u=1, x=?2',
    'u=1, x=%"%C3"',
    'u=1, x=\xe4',
    'u=1\0',
    'u=1\t',
    '\tu=1',
    'u=1111111111111111',
  ])('of %j is the default, since it is no dictionary', (text) => {
    expect(parsePriority(text)).toEqual(NOTHING);
  });

  it.each([
    ['u=1', { urgency: 1, incremental: null }],
    ['i=?0', { urgency: null, incremental: false }],
    ['u=9, i', { urgency: null, incremental: true }],
    ['u=1, u=x', NOTHING],
  ])('of "%s" says nothing about what is not there', (text, said) => {
    expect(parsePriority(text)).toEqual(said);
    const other = { urgency: 5, incremental: true };
    expect(mergePriority(parsePriority(text), other)).toEqual({
      urgency: said.urgency ?? 5,
      incremental: said.incremental ?? true,
    });
  });

  it('is read of any text, and in time that grows with its length alone', () => {
    const piece = fc.constantFrom(
      'u',
      'i',
      '=',
      '1',
      '?1',
      ',',
      ' ',
      ';',
      '(',
      ')',
      '"',
      '\\',
      ':',
      'a',
      '%"',
      '\t',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const { urgency } = mergePriority(parsePriority(pieces.join('')), DEFAULT_PRIORITY);
        expect(urgency).toBeGreaterThanOrEqual(0);
        expect(urgency).toBeLessThanOrEqual(7);
      }),
      { numRuns: 2000 },
    );
    for (const unit of [
      'u=1,',
      'a;',
      ' ',
      '(',
      'x=(',
      '"\\"',
      ':a',
      '%"',
      'u=1;a=1',
      ' \t',
      '1',
      'x=( 1',
      '%41',
    ]) {
      expect(parsePriority(`u=(${unit.repeat(200_000)}`)).toEqual(NOTHING);
      expect(parsePriority(`u=1${unit.repeat(200_000)}`)).toBeDefined();
    }
  });
});
