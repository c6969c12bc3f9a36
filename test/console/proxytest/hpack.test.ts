// HPACK of test scripts beside that of the daemon: neither knows the other's tables.
import { describe, expect, it } from 'vitest';
import { FieldTable, HpackError } from '../../../console/proxytest/hpack.ts';
import { huffmanCoded, huffmanDecoded, STATIC_FIELDS } from '../../../console/proxytest/hpack-tables.ts';
import { STATIC_ENTRIES } from '../../../daemon/http2/hpack-static.ts';
import { huffmanEncode, huffmanLength } from '../../../daemon/http2/huffman.ts';

const EVERY = String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i));

it('has the same static fields', () => {
  expect(STATIC_FIELDS).toEqual(STATIC_ENTRIES);
});

it.each(['', 'www.example.com', EVERY])('codes a text as the daemon does', (text) => {
  const theirs = Buffer.alloc(huffmanLength(text));
  huffmanEncode(text, theirs, 0);
  expect(huffmanCoded(text)).toEqual(theirs);
  expect(huffmanDecoded(theirs)).toBe(text);
});

it.each(['ff', 'ffffffff', '1800'])('%s is no code', (hex) => {
  expect(huffmanDecoded(Buffer.from(hex, 'hex'))).toBeNull();
});

describe('tables', () => {
  it('decode what the other side has written in each way', () => {
    const [writes, reads] = [new FieldTable(), new FieldTable()];
    const block = Buffer.concat([
      writes.indexed(2),
      writes.literal('inc', 'custom-key', 'custom value', true, true),
      writes.indexed(62),
      writes.literal('never', 62, 'secret'),
      writes.literal('not', 1, 'example.com', false, true),
    ]);
    expect(reads.decode(block)).toEqual([
      [':method', 'GET'],
      ['custom-key', 'custom value'],
      ['custom-key', 'custom value'],
      ['custom-key', 'secret'],
      [':authority', 'example.com'],
    ]);
    expect([reads.length, reads.size, reads.dynamic(1)]).toEqual([1, 54, ['custom-key', 'custom value']]);
  });

  it('forget what has no room', () => {
    const table = new FieldTable();
    for (const name of ['a', 'b', 'c']) table.insert([name, '1']);
    table.resize(68);
    expect([table.length, table.dynamic(1), table.dynamic(3)]).toEqual([2, ['c', '1'], null]);
    table.insert(['too-long-for-it', 'x'.repeat(100)]);
    expect(table.length).toBe(0);
  });

  it.each(['be', '80', '40', '0005aa', '7f'])('refuse %s', (hex) => {
    expect(() => new FieldTable().decode(Buffer.from(hex, 'hex'))).toThrow(HpackError);
  });
});
