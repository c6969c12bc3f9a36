// Filters of extensions: as the built-in ones they take any pieces, wait for a slow taker, and break a body off.
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { BodyTransform, ExtensionFilter, PassingBody } from '../../../daemon/contract/body-filter.ts';
import type { Extension } from '../../../daemon/contract/extension.ts';
import { filterClash, namedFetchFilters } from '../../../daemon/filters/filter-table.ts';
import { deliveryChain, fetchChain, Taking } from './filter-setup.ts';

const TEXT = Buffer.from('The quick brown fox jumps over the lazy dog.\n'.repeat(3));
const UPPER = Buffer.from(TEXT.toString().toUpperCase());

function extension(filters: Record<string, Partial<ExtensionFilter>>, name = 'ext'): Extension {
  const row = {
    help: '',
    side: 'fetch',
    changes: 'length',
    open: () => ({ transform: () => null }),
  } as const;
  const rows = Object.entries(filters).map(([f, own]) => [f, { ...row, ...own }]);
  return { name, help: '', functions: {}, filters: Object.fromEntries(rows) };
}

const upper = (): BodyTransform => ({ transform: (bytes) => Buffer.from(bytes.toString().toUpperCase()) });
const twice = (): BodyTransform => ({
  *transform(bytes) {
    for (const byte of bytes) yield Buffer.from([byte, byte]);
  },
});
/** Changes what it was given, and answers nothing. */
function counting(body: PassingBody): BodyTransform {
  let n = 0;
  return {
    transform(bytes, last) {
      n += bytes.length;
      bytes.fill(0);
      if (last) body.log(`${n} bytes`);
      return null;
    },
  };
}

const OWN = [
  extension({
    up: { changes: 'bytes', open: upper },
    twice: { open: twice },
    count: { changes: 'nothing', open: counting },
    late: {
      open: () => {
        const held: Uint8Array[] = [];
        return {
          transform: (bytes, last) => {
            held.push(bytes);
            return last ? held : null;
          },
        };
      },
    },
  }),
];
const doubled = Buffer.from([...TEXT].flatMap((byte) => [byte, byte]));

describe('bodies', () => {
  it.each([
    ['up', UPPER],
    ['twice', doubled],
    ['count', TEXT],
    ['late', TEXT],
    ['up twice count', Buffer.from(doubled.toString().toUpperCase())],
    ['gzip gunzip up', UPPER],
  ])('%s: split at every byte, to a fast and a slow taker', async (names, wanted) => {
    for (const slow of [false, true]) {
      for (let at = 0; at <= TEXT.length; at++) {
        const source = Buffer.from(TEXT);
        const { chain } = fetchChain(names, {}, true, OWN);
        const taking = new Taking(chain, slow);
        await taking.give([source.subarray(0, at), source.subarray(at)], at % 2 === 0);
        expect(taking.outcome).toBe('whole');
        expect(taking.bytes.toString()).toBe(wanted.toString());
        expect(source.equals(TEXT)).toBe(true);
      }
    }
  });

  it('packs what a filter made', async () => {
    const { chain } = fetchChain('up gzip', {}, true, OWN);
    const taking = new Taking(chain);
    await taking.give([TEXT], true);
    expect(gunzipSync(taking.bytes).equals(UPPER)).toBe(true);
    expect(chain.gzipped).toBe(true);
  });

  it('asks for a piece when the one before it is taken', async () => {
    let asked = 0;
    const open = (): BodyTransform => ({
      *transform(_bytes, last) {
        for (let i = 0; last && i < 1000; i++) {
          asked++;
          yield Buffer.alloc(1024);
        }
      },
    });
    const { chain } = fetchChain('bomb', {}, true, [extension({ bomb: { open } })]);
    const taking = new Taking(chain, true);
    const done = taking.give([TEXT], false);
    expect(asked).toBe(1);
    expect((await done).bytes.length).toBe(1024 * 1000);
  });

  it('gives all pieces of an answer in the same call to a taker that has room', () => {
    const { chain } = fetchChain('twice', {}, true, OWN);
    const taking = new Taking(chain);
    expect(taking.put(Buffer.from('abc'))).toBe('more');
    expect([taking.got.map(String), taking.asked]).toEqual([['aa', 'bb', 'cc'], 0]);
  });

  it('logs what a filter says, and closes it once', async () => {
    const { chain, records } = fetchChain('count', {}, true, OWN);
    const taking = new Taking(chain);
    await taking.give([TEXT], true);
    chain.report();
    expect(records).toEqual([`VCL_Log ${TEXT.length} bytes`, `VfpAcct count 1 ${TEXT.length}`]);
    let closed = 0;
    const open = (): BodyTransform => ({ ...upper(), close: () => void closed++ });
    const other = fetchChain('c', {}, true, [extension({ c: { open } })]);
    const ended = await new Taking(other.chain).give([TEXT], true);
    ended.cancel();
    expect(closed).toBe(1);
  });
});

describe('bodies that break off', () => {
  const broken: [string, string, () => BodyTransform][] = [
    [
      'open throws',
      'no',
      () => {
        throw new Error('no');
      },
    ],
    [
      'transform throws',
      'not this',
      () => ({
        transform: () => {
          throw new Error('not this');
        },
      }),
    ],
    [
      'a generator throws',
      'midway',
      () => ({
        *transform() {
          yield TEXT;
          throw new Error('midway');
        },
      }),
    ],
    [
      'a text is answered',
      'it answered neither bytes nor an iterable of them',
      () => ({ transform: () => 1 as never }),
    ],
    ['pieces are none', 'it answered something else than bytes', () => ({ transform: () => ['x'] as never })],
    [
      'a promise is answered',
      'it answered neither bytes nor an iterable of them',
      () => ({ transform: async () => null }) as never,
    ],
    ['the length changes', 'it changed the length of a body', twice],
  ];
  it.each(broken)('%s', async (_what, why, open) => {
    const own = (side: 'fetch' | 'delivery') => [extension({ bad: { open, side, changes: 'bytes' } })];
    const fetched = fetchChain('bad', {}, true, own('fetch'));
    expect((await new Taking(fetched.chain).give([TEXT], false)).outcome).toBe('broken');
    expect(fetched.records).toEqual([`FetchError Filter bad: ${why}`]);
    const delivered = deliveryChain('bad', {}, own('delivery'));
    expect((await new Taking(delivered.chain).give([TEXT], false)).outcome).toBe('broken');
    expect(delivered.records).toEqual([`Error Filter bad: ${why}`]);
  });
});

describe('heads', () => {
  const FIELDS = { ETag: '"a"', 'Content-Length': '9' };
  it.each([
    ['count', '"a"', '9', false],
    ['up', 'W/"a"', '9', true],
    ['twice', 'W/"a"', null, true],
  ])('%s of a fetch', (name, etag, length, recoded) => {
    const { chain, head } = fetchChain(name, FIELDS, true, OWN);
    expect([head.get('etag'), head.get('content-length'), chain.recoded]).toEqual([etag, length, recoded]);
  });

  it.each([
    ['nothing', '"a"', '9', 9],
    ['bytes', 'W/"a"', '9', 9],
    ['length', 'W/"a"', null, -1],
  ] as const)('of a delivery that changes %s', (changes, etag, text, length) => {
    const own = [extension({ own: { side: 'delivery', changes } })];
    const { chain, head } = deliveryChain('own', { head: FIELDS, length: 9 }, own);
    expect([head.get('etag'), head.get('content-length'), chain.length]).toEqual([etag, text, length]);
  });
});

describe('names', () => {
  it('are those of the side', () => {
    const own = [extension({ out: { side: 'delivery' } })];
    expect(namedFetchFilters('out', own)).toMatchObject({ unknown: "Filter '...out' not found" });
  });

  it('are one filter each', () => {
    const [a, b] = [extension({ same: {} }, 'a'), extension({ same: { side: 'delivery' } }, 'b')];
    expect(filterClash([a])).toBe(null);
    expect(filterClash([a, b])).toBe('Filter same of b has the name of one of a');
    const gzip = extension({ gzip: { side: 'delivery' } });
    expect(filterClash([gzip])).toBe('Filter gzip of ext has the name of one of the proxy itself');
  });
});
