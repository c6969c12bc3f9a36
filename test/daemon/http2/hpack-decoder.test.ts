import { describe, expect, it } from 'vitest';
import type { HeaderField } from '../../../daemon/http2/header-field.ts';
import { HpackDecoder } from '../../../daemon/http2/hpack-decoder.ts';
import { runs } from '../../harness/runs.ts';
import { EXAMPLES } from './rfc7541-examples.ts';

const LARGE = 65_536;

/** A decoder, and how it reads a block: its fields as text, or what is wrong. */
function reader(tableSize = 4096, maxList = LARGE) {
  const decoder = new HpackDecoder(tableSize);
  const readBytes = (bytes: Buffer): string[] | string => {
    const fields: string[] = [];
    // Bytes around the block must never be looked at: here they end any integer, or are fields.
    const buf = Buffer.concat([Buffer.alloc(3, 0x82), bytes, Buffer.alloc(9)]);
    const wrong = decoder.decode(buf, 3, 3 + bytes.length, maxList, (field: HeaderField) => {
      expect(field.size).toBe(field.name.length + field.value.length + 32);
      fields.push(`${field.name}: ${field.value}`);
    });
    return wrong ?? fields;
  };
  const read = (hex: string) => readBytes(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
  return { decoder, read, readBytes };
}

const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex');
const INSERT_A = `40 01${hex('a')} 01${hex('b')}`;
const BAD_INTEGER = 'an integer is cut off or too long';
const BAD_INDEX = 'an index is of no entry';
const BAD_STRING = 'a string is cut off or not Huffman coded as it should be';

describe('blocks', () => {
  for (const { section, table, blocks } of EXAMPLES) {
    it(`reads the example ${section} of RFC 7541`, () => {
      const { decoder, read } = reader(table);
      for (const { hex, fields, held } of blocks) {
        expect(read(hex)).toEqual(fields);
        expect(decoder.bytesHeld).toBe(held);
      }
    });
  }

  it.each([
    ['no octets', '', []],
    ['an empty name and value', '00 00 00', [': ']],
    ['an empty name and value, Huffman coded', '00 80 80', [': ']],
    ['the last static entry', 'bd', ['www-authenticate: ']],
    [
      'an integer with zeros beyond its digits',
      `40 01${hex('a')} 7f 82 80 80 00 ${hex('v'.repeat(129))}`,
      [`a: ${'v'.repeat(129)}`],
    ],
    ['octets above ASCII', '00 01 e4 01 fc', ['\xe4: \xfc']],
    ['two updates of the size', '20 3f e1 1f 82', [':method: GET']],
  ])('reads %s', (_, block, fields) => {
    expect(reader().read(block)).toEqual(fields);
  });

  it.each([
    ['index 0', '80', BAD_INDEX],
    ['an index beyond an empty table', 'be', BAD_INDEX],
    ['an index beyond the table', `${INSERT_A} be bf`, BAD_INDEX],
    ['a name beyond the table', `${INSERT_A} 7f 00 00`, BAD_INDEX],
    ['a name beyond the table, without indexing', '0f 2f 00', BAD_INDEX],
    ['a huge index', 'ff ff ff ff 7f', BAD_INDEX],
    ['an index of five octets', 'ff ff ff ff 00', BAD_INDEX],
    ['an index that is cut off', 'ff', BAD_INTEGER],
    ['an index that is cut off later', 'ff ff', BAD_INTEGER],
    ['an index of too many octets', 'ff ff ff ff ff 00', BAD_INTEGER],
    ['an index with endless zeros', `ff ${'80'.repeat(1000)}`, BAD_INTEGER],
    ['zeros that lengthen an index', 'ff 80 80 80 80 00', BAD_INTEGER],
    ['an integer of 64 bits', 'ff ff ff ff ff ff ff ff ff ff 01', BAD_INTEGER],
    ['a name index that is cut off', '7f', BAD_INTEGER],
    ['an update that is cut off', '3f', BAD_INTEGER],
    ['an update of too many octets', '3f ff ff ff ff 7f', BAD_INTEGER],
    ['a field without its strings', '00', BAD_STRING],
    ['a field without its value', `00 01${hex('a')}`, BAD_STRING],
    ['an indexed name without its value', '41', BAD_STRING],
    ['a name that is cut off', `00 03${hex('ab')}`, BAD_STRING],
    ['a value that is cut off', `00 01${hex('a')} 05${hex('abcd')}`, BAD_STRING],
    ['a coded value that is cut off', `00 01${hex('a')} 85${hex('abcd')}`, BAD_STRING],
    ['a length that is cut off', `00 01${hex('a')} 7f`, BAD_STRING],
    ['a length of too many octets', `00 01${hex('a')} 7f ff ff ff ff 7f`, BAD_STRING],
    ['a length larger than any block', '00 7f ff ff ff 7f', BAD_STRING],
    ['the end of string in a value', `00 01${hex('a')} 84 ff ff ff ff`, BAD_STRING],
    ['the end of string in a name', '00 84 ff ff ff ff 00', BAD_STRING],
    ['padding of eight bits', `00 01${hex('a')} 82 07 ff`, BAD_STRING],
    ['padding of zeros', `00 01${hex('a')} 81 00`, BAD_STRING],
    ['a size above the limit', '3f e2 1f', 'the table is made larger than it may be'],
    ['three updates of the size', '20 20 20', 'the size of the table changes more than twice'],
    ['an update after a field', '82 20', 'the size of the table changes within a block'],
  ])('refuses %s', (_, block, wrong) => {
    expect(reader().read(block)).toBe(wrong);
  });
});

describe('the table', () => {
  it('keeps entries for later blocks, the newest first', () => {
    const { decoder, read } = reader();
    expect(read(`${INSERT_A} 40 01${hex('c')} 01${hex('d')} be bf`)).toEqual([
      'a: b',
      'c: d',
      'c: d',
      'a: b',
    ]);
    expect(read(`be bf 7e 01${hex('e')} be c0`)).toEqual(['c: d', 'a: b', 'c: e', 'c: e', 'a: b']);
    expect(decoder.bytesHeld).toBe(3 * 34);
  });

  it('gives the same object for the same entry', () => {
    const decoder = new HpackDecoder(4096);
    const taken: HeaderField[] = [];
    const bytes = Buffer.from(`${INSERT_A}bebe`.replaceAll(' ', ''), 'hex');
    decoder.decode(bytes, 0, bytes.length, LARGE, (field) => taken.push(field));
    expect(taken).toHaveLength(3);
    expect(new Set(taken).size).toBe(1);
  });

  it('evicts the oldest entries, also the one whose name the new one has', () => {
    const { decoder, read } = reader(68);
    read(`${INSERT_A} 40 01${hex('c')} 01${hex('d')}`);
    expect(decoder.bytesHeld).toBe(68);
    expect(read(`7f 00 03${hex('efg')}`)).toEqual(['a: efg']);
    expect(decoder.bytesHeld).toBe(36);
    expect(read('be')).toEqual(['a: efg']);
    expect(read('bf')).toBe(BAD_INDEX);
  });

  it('is emptied by an entry larger than itself, which is a field all the same', () => {
    const { decoder, read } = reader(68);
    read(INSERT_A);
    expect(read(`40 01${hex('x')} 24${hex('y'.repeat(36))}`)).toEqual([`x: ${'y'.repeat(36)}`]);
    expect(decoder.bytesHeld).toBe(0);
    expect(read(`40 01${hex('x')} 23${hex('y'.repeat(35))} be`)).toHaveLength(2);
    expect(decoder.bytesHeld).toBe(68);
  });

  it('of size 0 keeps nothing', () => {
    const { decoder, read } = reader(0);
    expect(read(`${INSERT_A} ${INSERT_A}`)).toEqual(['a: b', 'a: b']);
    expect([decoder.bytesHeld, read('be')]).toEqual([0, BAD_INDEX]);
  });

  it('keeps the right entries after many more than it has room for', () => {
    const { decoder, read } = reader(4096);
    for (let i = 0; i < 1000; i++) {
      const name = `n${i}`;
      read(`40 0${name.length}${hex(name)} 00`);
      for (const back of [0, 1, 5, 40].filter((back) => back <= i)) {
        expect(read((0x80 + 62 + back).toString(16))).toEqual([`n${i - back}: `]);
      }
      expect(decoder.bytesHeld).toBeLessThanOrEqual(4096);
    }
    expect(decoder.bytesHeld).toBeGreaterThan(4096 - 36);
  });

  it('evicts when its size is made smaller, and may grow up to the limit again', () => {
    const { decoder, read } = reader(4096);
    read(`${INSERT_A} 40 01${hex('c')} 01${hex('d')}`);
    expect(read('3f 15 be')).toEqual(['c: d']);
    expect(decoder.bytesHeld).toBe(34);
    expect(read('20 3f e1 1f be')).toBe(BAD_INDEX);
    expect(decoder.bytesHeld).toBe(0);
  });
});

describe('a size that we have changed', () => {
  const MISSING = 'the table is not made smaller, as it had to be';

  it('has to be announced when it is smaller', () => {
    const { decoder, read } = reader(4096);
    decoder.limit(100);
    expect(read('82')).toBe(MISSING);
    const second = reader(4096);
    second.decoder.limit(100);
    expect(second.read('3f 46 82')).toBe('the table is made larger than it may be');
    const third = reader(4096);
    third.decoder.limit(100);
    expect(third.read('3f 45 82')).toEqual([':method: GET']);
    expect(third.read('82')).toEqual([':method: GET']);
  });

  it('has to be announced also when a larger one has followed', () => {
    const { decoder, read } = reader(4096);
    decoder.limit(0);
    decoder.limit(4096);
    expect(read('3f e1 1f 82')).toBe(MISSING);
    const second = reader(4096);
    second.decoder.limit(0);
    second.decoder.limit(4096);
    expect(second.read('20 3f e1 1f 82')).toEqual([':method: GET']);
    const third = reader(4096);
    third.decoder.limit(0);
    third.decoder.limit(50);
    expect(third.read('3f 13 82')).toBe(MISSING);
  });

  it('need not be announced when it is larger, or as large as what is used', () => {
    const { decoder, read } = reader(4096);
    decoder.limit(8192);
    expect(read('82')).toEqual([':method: GET']);
    expect(read('3f e1 3f 82')).toEqual([':method: GET']);
    read('20');
    decoder.limit(4096);
    decoder.limit(0);
    expect(read('82')).toEqual([':method: GET']);
  });
});

describe('a block that is too large', () => {
  it('is read to its end, so that the table stays in step', () => {
    const { decoder, read } = reader(4096, 100);
    const fields = read(
      `00 01${hex('x')} 01${hex('y')} 00 01${hex('x')} 26${hex('y'.repeat(38))} ${INSERT_A} 82`,
    );
    expect(fields).toEqual(['x: y']);
    expect([decoder.oversized, decoder.bytesHeld]).toEqual([true, 34]);
    expect(read('be')).toEqual(['a: b']);
    expect(decoder.oversized).toBe(false);
  });

  it('is not one of exactly the limit', () => {
    const { decoder, read } = reader(4096, 68);
    expect(read(`00 01${hex('x')} 01${hex('y')} 00 01${hex('x')} 01${hex('y')}`)).toHaveLength(2);
    expect(decoder.oversized).toBe(false);
  });

  it('is refused all the same when it is malformed', () => {
    const { decoder, read } = reader(4096, 40);
    expect(read('82 82 82 80')).toBe(BAD_INDEX);
    expect(decoder.oversized).toBe(true);
  });

  it('is not one of a very long field', () => {
    const { readBytes } = reader(4096, 1 << 21);
    const length = Buffer.from([0x7f, 0x81, 0x89, 0x3d]);
    for (const name of ['x', 'x'.repeat(100)]) {
      const value = 'v'.repeat(127 + 1 + (9 << 7) + (0x3d << 14));
      const block = [Buffer.from([0x40, name.length]), Buffer.from(name), length, Buffer.from(value)];
      expect(readBytes(Buffer.concat(block))).toEqual([`${name}: ${value}`]);
    }
  });

  it('may be a bomb: one large entry, referred to thousands of times', () => {
    const { decoder, readBytes } = reader(4096, 16_384);
    const value = Buffer.alloc(4000, 'v');
    const insert = Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xa1, 0x1e]), value]);
    const fields = readBytes(Buffer.concat([insert, Buffer.alloc(100_000, 0xbe)]));
    expect(fields).toHaveLength(4);
    expect([decoder.oversized, decoder.bytesHeld]).toEqual([true, 4033]);
  });

  it('may be a string longer than anything that is of use', () => {
    const { decoder, readBytes } = reader(4096, 16_384);
    for (const coded of [0, 0x80]) {
      const length = 200_000 - 127;
      const octets = [length & 127, (length >> 7) & 127, length >> 14].map((b, i) => (i < 2 ? b | 0x80 : b));
      const string = Buffer.concat([Buffer.from([coded | 0x7f, ...octets]), Buffer.alloc(200_000, 0x1f)]);
      const a = Buffer.from(INSERT_A.replaceAll(' ', ''), 'hex');
      // As a value and as a name; each empties the table.
      for (const block of [
        [a, Buffer.from([0x40, 1, 0x78]), string],
        [a, Buffer.from([0x40]), string, Buffer.from([0])],
      ]) {
        const fields = readBytes(Buffer.concat([...block, a, Buffer.from([0x82])]));
        if (coded === 0) expect(fields).toEqual(['a: b']);
        expect(typeof fields).toBe('object');
        expect([decoder.oversized, decoder.bytesHeld]).toEqual([true, 34]);
      }
    }
  });
});

/** Numbers from a seed: a run that fails can be repeated. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

it('any octets are read without a throw, within the bounds', () => {
  const next = numbers(7);
  const good = EXAMPLES.flatMap(({ blocks }) => blocks.map(({ hex }) => Buffer.from(hex, 'hex')));
  const shared = Buffer.alloc(256);
  let decoder = new HpackDecoder(4096);
  let [whole, broken] = [0, 0];
  let octets = 0;
  const started = process.cpuUsage().user;
  for (let i = 0; i < runs(200_000); i++) {
    let length = next(64);
    if (next(2) === 0) {
      const from = good[next(good.length)] as Buffer;
      length = from.copy(shared);
      for (let changes = next(4); changes > 0; changes--) shared[next(length)] = next(256);
    } else {
      for (let k = 0; k < length; k++) shared[k] = next(256);
    }
    const maxList = next(400);
    let listed = 0;
    const wrong = decoder.decode(shared, 0, length, maxList, (field) => {
      listed += field.size;
    });
    octets += length;
    expect(listed).toBeLessThanOrEqual(maxList);
    expect(decoder.bytesHeld).toBeLessThanOrEqual(4096);
    if (wrong === null) whole++;
    else {
      broken++;
      if (next(3) === 0) decoder = new HpackDecoder(4096);
    }
    if (next(50) === 0) decoder.limit(next(4097));
  }
  expect(Math.min(whole, broken)).toBeGreaterThan(runs(200_000) / 20);
  // A hundred times what it takes.
  expect((process.cpuUsage().user - started) / octets).toBeLessThan(50);
});
