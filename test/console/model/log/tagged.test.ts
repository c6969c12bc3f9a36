// The tags that a response carries, out of its records.
import { expect, it } from 'vitest';
import { type Tagged, withTags } from '../../../../console/model/log/looked-up.ts';
import { RecordCursor } from '../../../../protocol/log-record.ts';
import type { TagName } from '../../../../protocol/tables/tags.ts';
import { record } from '../../fake-recording.ts';

function tags(...lines: [TagName, string][]): string[] {
  const cursor = new RecordCursor(Buffer.concat(lines.map(([tag, text]) => record('b', 3, tag, text))));
  let found: readonly Tagged[] = [];
  while (cursor.next()) found = withTags(found, cursor);
  return found.map(({ tag, header }) => `${header} ${tag}`);
}

it('of several lines add up, whatever headers they are', () => {
  expect(
    tags(['BerespHeader', 'xkey: a b'], ['BerespHeader', 'xkey: c'], ['BerespHeader', 'Cache-Tag: d,e']),
  ).toEqual(['xkey a', 'xkey b', 'xkey c', 'Cache-Tag d', 'Cache-Tag e']);
});

it('are those of the end: the program may have replaced them', () => {
  expect(
    tags(['BerespHeader', 'xkey: old'], ['BerespUnset', 'XKey: old'], ['BerespHeader', 'xkey: new']),
  ).toEqual(['xkey new']);
});

it('leave out the last one of a record that is cut, which may be the beginning of a longer one', () => {
  const long = `xkey: ${'tag-1 '.repeat(60)}`;
  const cut = long.slice(0, 254);
  expect(cut.endsWith(' ta')).toBe(true);
  const found = tags(['BerespHeader', cut]);
  expect(new Set(found)).toEqual(new Set(['xkey tag-1']));
  // Whole, though it fills the record but for a byte.
  expect(tags(['BerespHeader', `xkey: ${'x'.repeat(247)}`])).toEqual([`xkey ${'x'.repeat(247)}`]);
});

it('are all there where the instance keeps longer records', () => {
  const cursor = new RecordCursor(record('b', 3, 'BerespHeader', `xkey: ${'tag-1 '.repeat(50)}tag-2`));
  cursor.next();
  expect(withTags([], cursor, 1023).at(-1)?.tag).toBe('tag-2');
});
