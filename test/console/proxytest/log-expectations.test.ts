// How records meet the expectations of a logexpect.
import { describe, expect, it } from 'vitest';
import { type Expectation, LogMatcher, type Skip } from '../../../console/proxytest/log-expectations.ts';
import { type LogLine, LogText } from '../../../console/proxytest/log-records.ts';
import { compileRegex } from '../../../queries/regex/bounded-regex.ts';

const text = (pattern: string | undefined) => (pattern === undefined ? null : compileRegex(pattern));
const wants = (skip: Skip, vxid: number | 'any' | 'last', tag: string, pattern?: string): Expectation => ({
  kind: 'expect',
  skip,
  pattern: { shown: tag, vxid, tag, text: text(pattern) },
});
const unwanted = (tag: string): Expectation => ({
  kind: 'fail',
  pattern: { shown: `fail ${tag}`, vxid: 'any', tag, text: null },
});
const clear: Expectation = {
  kind: 'clear',
  pattern: { shown: 'fail clear', vxid: 'any', tag: 'any', text: null },
};
const record = (tag: string, vxid = 1, output = ''): LogLine => ({ vxid, tag, side: 'c', text: output });

function result(list: Expectation[], records: LogLine[]): boolean | null {
  const matcher = new LogMatcher(list, () => undefined);
  for (const each of records) matcher.take(each);
  return matcher.result;
}

const A = record('A');
const B = record('B');
const C = record('C');
const END = record('End');

describe('expectations', () => {
  it.each<[string, Expectation[], LogLine[], boolean | null]>([
    ['one after the other', [wants(0, 'any', 'A'), wants(0, 'any', 'B')], [A, B], true],
    ['are not complete', [wants(0, 'any', 'A'), wants(0, 'any', 'B')], [A], null],
    ['with nothing between', [wants(0, 'any', 'A'), wants(0, 'any', 'C')], [A, B, C], false],
    ['with so many between', [wants(0, 'any', 'A'), wants(1, 'any', 'C')], [A, B, C], true],
    [
      'with so many between each',
      [wants(0, 'any', 'A'), wants(1, 'any', 'A', 'y'), wants(1, 'any', 'B')],
      [A, C, record('A', 1, 'y'), C, B],
      true,
    ],
    ['with any between', [wants('any', 'any', 'C')], [A, B, C], true],
    [
      'in any order',
      [wants('alternative', 'any', 'A'), wants('alternative', 'any', 'B'), wants(0, 'any', 'C')],
      [B, A, C],
      true,
    ],
    [
      'in any order, but none is left out',
      [wants('alternative', 'any', 'A'), wants('alternative', 'any', 'B'), wants(0, 'any', 'C')],
      [B, C],
      false,
    ],
    [
      'of the transaction before',
      [wants(0, 7, 'A'), wants('any', 'last', 'B')],
      [record('A', 7), record('B', 8), record('B', 7)],
      true,
    ],
    ['of a transaction that is over', [wants(0, 'any', 'A'), wants('any', 'last', 'B')], [A, END], false],
    ['with a text', [wants('any', 'any', 'A', '^x')], [record('A', 1, 'yx'), record('A', 1, 'xy')], true],
    ['tags in any case', [wants(0, 'any', 'a')], [A], true],
    ['unwanted', [unwanted('B'), wants('any', 'any', 'C'), clear], [A, B, C], false],
    ['unwanted, and it did not come', [unwanted('B'), wants('any', 'any', 'C'), clear], [A, C, B], true],
    ['unwanted to the end', [unwanted('B'), wants('any', 'any', 'C')], [C], null],
  ])('%s', (_, list, records, wanted) => {
    expect(result(list, records)).toBe(wanted);
  });
});

it('reads records out of the text of the log', () => {
  const reader = new LogText();
  const lines = [
    '*   << Request  >> 2',
    '-         2 ReqURL         c /a b',
    '-         3 Debug          - "a%0ab"',
    '',
  ];
  const records = [...lines.flatMap((line) => reader.line(line)), ...reader.finish()];
  expect(records).toEqual([
    { vxid: 2, tag: 'ReqURL', side: 'c', text: '/a b' },
    { vxid: 3, tag: 'Debug', side: '-', text: 'a\nb' },
  ]);
});
