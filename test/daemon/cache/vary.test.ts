import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChunkBytes } from '../../../daemon/cache/storage/slab.ts';
import {
  matchesStored,
  mayBecome,
  preferredLanguage,
  resolveVary,
  storedNames,
  VariantHash,
  type VaryKey,
  varyBytes,
  varyKey,
  writeVary,
} from '../../../daemon/cache/vary.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';

const HASH = new VariantHash([1, 2]);

function request(fields: [string, string][]): HttpMessage {
  const msg = new HttpMessage(0);
  for (const [name, value] of fields) msg.push(name.toLowerCase(), `${name}: ${value}`);
  return msg;
}

function stored(key: VaryKey): ChunkBytes {
  const memory = Buffer.alloc(varyBytes(key)) as Buffer as ChunkBytes;
  writeVary(key, memory, 0);
  return memory;
}

function key(vary: string, fields: [string, string][]): VaryKey {
  return resolveVary(vary, request(fields)) as VaryKey;
}

describe('vary', () => {
  it('resolves names in order, once each, in lower case', () => {
    expect(key('Foo, , BAR,foo', [['Foo', '1']])).toEqual({ names: ['foo', 'bar'], values: ['1', null] });
    expect(resolveVary(' , ', request([]))).toBeNull();
    expect(resolveVary(null, request([]))).toBeNull();
    expect(resolveVary('a b', request([]))).toBe('not a field name');
    expect(resolveVary('x'.repeat(256), request([]))).toBe('name too long');
  });

  it.each([255, 256, 257, 1000])('looks at the last of %i names', (n) => {
    const names = Array.from({ length: n - 1 }, (_, i) => `h${i}`).concat('user');
    const one = key(names.join(), [['User', 'a']]);
    const bytes = stored(one);
    expect(storedNames(bytes, 0)).toEqual(names);
    expect(matchesStored(bytes, 0, request([['User', 'a']]), false)).toBe(true);
    expect(matchesStored(bytes, 0, request([['User', 'b']]), false)).toBe(false);
  });

  it.each([
    ['en, de', 'de, en', true],
    ['en;q=0.5, DE', 'de,en; q=0.5', true],
    ['de;q=1.0', 'de', true],
    ['en, de', 'en, de;q=0.5', false],
    ['en', 'en-gb', false],
  ])('with normalise, Accept-Language %j and %j are the same: %j', (kept, asked, same) => {
    const bytes = stored(key('Accept-Language', [['Accept-Language', kept]]));
    const wanted = request([['Accept-Language', asked]]);
    expect(matchesStored(bytes, 0, wanted, false, true)).toBe(same);
    expect(matchesStored(bytes, 0, wanted, false, false)).toBe(false);
    const hash = HASH.ofKey(key('Accept-Language', [['Accept-Language', asked]]));
    if (same) expect(HASH.ofStored(bytes, 0)).toBe(hash);
  });

  it.each([
    ['fr;q=0.5, de;q=1.0', 'de'],
    ['de-AT, de;q=0.9', 'de-at'],
    ['en, de', null],
    ['de;q=0', null],
    ['*', null],
    ['*;q=0.1, fr;q=0.2', 'fr'],
    ['de;q=2', null],
    ['', null],
  ])('%j prefers %j to all others', (value, language) => {
    expect(preferredLanguage(value)).toBe(language);
  });

  it('does not count beyond what it can store', () => {
    const many = Array.from({ length: 0x10000 }, (_, i) => `h${i}`).join();
    expect(resolveVary(many, request([]))).toBe('too many names');
  });

  it('distinguishes absent from empty, and one line from two', () => {
    const absent = stored(key('A', []));
    const empty = stored(key('A', [['A', '']]));
    expect(matchesStored(absent, 0, request([]), false)).toBe(true);
    expect(matchesStored(absent, 0, request([['A', '']]), false)).toBe(false);
    expect(matchesStored(empty, 0, request([['A', '']]), false)).toBe(true);
    expect(matchesStored(empty, 0, request([]), false)).toBe(false);
    const one = stored(key('A', [['A', 'x']]));
    expect(
      matchesStored(
        one,
        0,
        request([
          ['A', 'x'],
          ['A', 'y'],
        ]),
        false,
      ),
    ).toBe(false);
    expect(matchesStored(one, 0, request([['A', ' x']]), false)).toBe(true);
  });

  it('leaves Accept-Encoding out while gzip support is on', () => {
    const zipped = key('Accept-Encoding, B', [
      ['Accept-Encoding', 'gzip'],
      ['B', '1'],
    ]);
    const plain = request([['B', '1']]);
    for (const [support, same] of [
      [true, true],
      [false, false],
    ] as const) {
      expect(matchesStored(stored(zipped), 0, plain, support)).toBe(same);
    }
    expect(matchesStored(stored(zipped), 0, request([['B', '2']]), true)).toBe(false);
  });

  it('never matches a star, in any place, nor an illegal Vary', () => {
    for (const star of [key('*', []), key('A, *', [['A', '1']]), varyKey('a b', request([])) as VaryKey]) {
      for (const req of [request([['A', '1']]), request([]), request([['*', 'x']])]) {
        expect(matchesStored(stored(star), 0, req, true)).toBe(false);
      }
    }
  });

  it.each([
    ['Foo', 'a,b', 'a , b', true],
    ['Foo', 'a b', 'a  b', false],
    ['Foo', 'a', 'A', false],
    ['Foo', '"a,b"', '"a, b"', false],
    ['Accept-Language', 'EN;q=0.5, de', 'en ; q=0.5,DE', true],
    ['Accept-Language', 'en, de', 'de, en', true],
    ['Accept-Language', 'en, de', 'de;q=0.5, en', false],
  ])('takes %s: %s and %s for the same in writing: %s', (name, kept, asked, same) => {
    const made = key(name, [[name, kept]]);
    const req = request([[name, asked]]);
    expect(matchesStored(stored(made), 0, req, false, true)).toBe(same);
    expect(matchesStored(stored(made), 0, req, false)).toBe(false);
  });

  it('answers from the stored form, and for one that is expected, as a comparison of values does', () => {
    const field = fc.tuple(
      fc.constantFrom('A', 'B', 'Accept-Encoding', 'b'),
      fc.constantFrom('', 'x', 'y', 'xy'),
    );
    fc.assert(
      fc.property(
        fc.array(field),
        fc.array(field),
        fc.constantFrom('a', 'A, b', 'b,accept-encoding'),
        (f, g, vary) => {
          const made = key(vary, f);
          const req = request(g);
          const memory = stored(made);
          expect(storedNames(memory, 0)).toEqual(made.names);
          for (const support of [true, false]) {
            const same = made.names.every(
              (name, i) => (support && name === 'accept-encoding') || req.getAll(name) === made.values[i],
            );
            expect(matchesStored(memory, 0, req, support)).toBe(same);
            // The estimate is never too small, and here not too large.
            const asked = { names: made.names, values: made.names.map((name) => req.getAll(name)) };
            expect(mayBecome(HASH.expected(made, support), HASH.expected(asked, support))).toBe(same);
          }
        },
      ),
    );
  });

  it('expects nothing for anybody of a star, and anything of other headers', () => {
    const star = key('A, *', [['A', '1']]);
    expect(mayBecome(HASH.expected(star, true), HASH.expected(star, true))).toBe(false);
    const one = key('A', [['A', '1']]);
    const other = key('B', [['B', '2']]);
    expect(mayBecome(HASH.expected(one, true), HASH.expected(other, true))).toBe(true);
    expect(mayBecome(HASH.expected(one, true), HASH.expected(key('A', []), true))).toBe(false);
    expect(mayBecome(HASH.expected(one, true), HASH.expected(star, true))).toBe(true);
  });
});
