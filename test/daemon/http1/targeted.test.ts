// Targeted cache control: the dictionary is read by RFC 8941 to the letter, or not at all.
import { describe, expect, it } from 'vitest';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { targetedDirectives } from '../../../daemon/http1/targeted.ts';

function read(...values: string[]): [string, unknown][] | null {
  const msg = new HttpMessage(1);
  for (const value of values) msg.push('cdn-cache-control', `CDN-Cache-Control: ${value}`);
  const found = targetedDirectives(msg, 'cdn-cache-control');
  return found === null ? null : [...found];
}

describe('targeted directives', () => {
  it.each([
    ['max-age=60', [['max-age', 60]]],
    [
      'max-age=60, must-revalidate',
      [
        ['max-age', 60],
        ['must-revalidate', true],
      ],
    ],
    [
      'max-age=60 \t,\t no-store',
      [
        ['max-age', 60],
        ['no-store', true],
      ],
    ],
    ['max-age=1, max-age=2', [['max-age', 2]]],
    ['no-store=?0', [['no-store', false]]],
    ['max-age=60;a;b=1;c="x"', [['max-age', 60]]],
    ['max-age="60"', [['max-age', '60']]],
    ['max-age=6.5', [['max-age', '6.5']]],
    ['max-age=60.0', [['max-age', '60.0']]],
    [
      'ext="a, \\"b\\"", max-age=1',
      [
        ['ext', 'a, "b"'],
        ['max-age', 1],
      ],
    ],
    [
      'ext=tok/en, b=:aGk=:, c=(1 "x" y;z);q',
      [
        ['ext', 'tok/en'],
        ['b', ':aGk=:'],
        ['c', ''],
      ],
    ],
  ] as [string, [string, unknown][]][])('reads %j', (text, members) => {
    expect(read(text)).toEqual(members);
  });

  it('reads several lines as one list', () => {
    expect(read('max-age=1', 'no-cache')).toEqual([
      ['max-age', 1],
      ['no-cache', true],
    ]);
  });

  it.each([
    '',
    '  ',
    ',',
    'max-age=60,',
    'max-age=60,,no-store',
    'Max-Age=60',
    'max-age=',
    'max-age =60',
    'max-age= 60',
    'max-age=60 no-store',
    'max-age="60',
    'a="\u00e9"',
    'a=(1',
    'a=?2',
    'a;=1',
    '&&&',
    'max-age=60;;',
    '1=2',
  ])('takes %j for no directives', (text) => {
    expect(read(text)).toBeNull();
  });

  it('is absent without the field', () => {
    expect(read()).toBeNull();
  });
});
