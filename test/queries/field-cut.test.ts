import { describe, expect, it } from 'vitest';
import { FieldCut } from '../../queries/field-cut.ts';

/** All fields of a text, until there is none. */
function fields(text: string): string[] {
  const bytes = Buffer.from(`<${text}>`, 'latin1');
  const cut = new FieldCut();
  const found: string[] = [];
  while (cut.find(bytes, 1, bytes.length - 1, found.length + 1)) {
    found.push(bytes.toString('latin1', cut.from, cut.to));
  }
  return found;
}

describe('fields of a record', () => {
  it.each([
    ['', []],
    ['  a  b\tc ', ['a', 'b', 'c']],
    ['default Went healthy "HTTP/1.1 200 OK"', ['default', 'Went', 'healthy', 'HTTP/1.1 200 OK']],
    ['"a b" c', ['a b', 'c']],
    ['a "b c" "d e" f', ['a', 'b c', 'd e', 'f']],
    ['a"b c"d e', ['a"b', 'c"d', 'e']],
    ["a 'b c'", ['a', "'b", "c'"]],
    ['"a b"c d', ['a b']],
    ['a "b c', ['a']],
    ['a "', ['a']],
    ['a "" b', ['a', '', 'b']],
    ['a "b \\" c" d', ['a', 'b \\', 'c"', 'd']],
  ])('%j', (text, expected) => {
    expect(fields(text)).toEqual(expected);
  });
});
