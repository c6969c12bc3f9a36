// Each filter through the interface of processors: whatever comes, in whatever pieces, to a slow or a fast taker.
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PagePlan, PlanCursor } from '../../../daemon/esi/page-plan.ts';
import { type DeflatePlaces, deflatePlaces } from '../../../daemon/filters/deflate-places.ts';
import {
  namedDeliveryFilters,
  namedFetchFilters,
  usualDeliveryFilters,
  usualFetchFilters,
} from '../../../daemon/filters/filter-table.ts';
import { turns } from '../../../daemon/turns/turns.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { isFull, runs } from '../../harness/runs.ts';
import { deliveryChain, fetchChain, message, Taking } from './filter-setup.ts';

const TEXT = Buffer.from('The quick brown fox jumps over the lazy dog.\n'.repeat(20));
const PACKED = gzipSync(TEXT);
const GZIP = { 'Content-Encoding': 'gzip' };

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...[...places].sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => bytes.subarray(at[i], end));
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Bytes of the document that go out by the plan of a page. */
function goesOut(plan: Buffer): number {
  const cursor = new PlanCursor(new PagePlan(plan));
  let sum = 0;
  for (let part = cursor.next(); part !== undefined; part = cursor.next())
    if (part.kind === 'text') sum += part.plain;
  return sum;
}

interface Passage {
  names: string;
  head: Record<string, string>;
  body: Buffer;
  want: (got: Buffer) => Buffer;
  wanted: Buffer;
}

const same = (got: Buffer): Buffer => got;
const PASSAGES: Passage[] = [
  { names: 'gzip', head: {}, body: TEXT, want: (got) => gunzipSync(got), wanted: TEXT },
  { names: 'gunzip', head: GZIP, body: PACKED, want: same, wanted: TEXT },
  { names: 'testgunzip', head: GZIP, body: PACKED, want: same, wanted: PACKED },
  { names: 'testgunzip gunzip', head: GZIP, body: PACKED, want: same, wanted: TEXT },
  { names: 'gunzip gzip', head: GZIP, body: PACKED, want: (got) => gunzipSync(got), wanted: TEXT },
  { names: 'gzip gunzip', head: {}, body: TEXT, want: same, wanted: TEXT },
  {
    names: 'gunzip gunzip gzip testgunzip',
    head: GZIP,
    body: PACKED,
    want: (got) => gunzipSync(got),
    wanted: TEXT,
  },
];

describe('filters of a fetch', () => {
  it.each(PASSAGES)('$names: split at every byte', async ({ names, head, body, want, wanted }) => {
    for (let at = 0; at <= body.length; at += body.length > 300 ? 13 : 1) {
      const taking = new Taking(fetchChain(names, head).chain);
      await taking.give(cut(body, [at]), at % 2 === 0);
      expect(taking.outcome).toBe('whole');
      expect(want(taking.bytes).equals(wanted)).toBe(true);
    }
  });

  it.each(PASSAGES)(
    '$names: in any pieces, to a fast and a slow taker',
    async ({ names, head, want, wanted, body }) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(body.length), { maxLength: 8 }),
          fc.boolean(),
          fc.boolean(),
          async (places, slow, endApart) => {
            const taking = new Taking(fetchChain(names, head).chain, slow);
            await taking.give(cut(body, places), endApart);
            expect(want(taking.bytes).equals(wanted)).toBe(true);
          },
        ),
        { numRuns: runs(60) },
      );
    },
  );

  it('log what they did, the last one first, those that found nothing to do included', async () => {
    const { chain, records, stats } = fetchChain('gunzip gunzip gzip', {
      ...GZIP,
      ETag: '"e"',
      Vary: 'Cookie',
    });
    expect(chain.head.lines.slice(0, chain.head.n)).toEqual(
      ['ETag: W/"e"', 'Vary: Cookie, Accept-Encoding', 'Content-Encoding: gzip'].sort(
        (a, b) => chain.head.lines.indexOf(a) - chain.head.lines.indexOf(b),
      ),
    );
    const taking = await new Taking(chain).give([PACKED], false);
    chain.report();
    const n = taking.bytes.length;
    expect(records).toEqual([
      expect.stringMatching(`^Gzip G F - ${TEXT.length} ${n} 80 80 \\d+$`),
      `VfpAcct gzip 1 ${n}`,
      'VfpAcct gunzip 0 0',
      expect.stringMatching(`^Gzip U F - ${PACKED.length} ${TEXT.length} 80 80 \\d+$`),
      `VfpAcct gunzip 1 ${TEXT.length}`,
    ]);
    expect(stats).toMatchObject({ n_gzip: 1, n_gunzip: 1, n_test_gunzip: 0 });
    expect([chain.gzipped, chain.recoded, chain.unpacked]).toEqual([true, true, TEXT.length]);
  });

  it.each([
    [
      'cut',
      PACKED.subarray(0, PACKED.length - 3),
      /^FetchError (tGunzip failed|Gunzip error at the very end)$/m,
    ],
    ['no gzip', TEXT, 'FetchError Invalid Gzip data: incorrect header check'],
    [
      'bad sum',
      Buffer.concat([PACKED.subarray(0, -8), Buffer.alloc(8)]),
      'FetchError Invalid Gzip data: incorrect data check',
    ],
    ['surplus', Buffer.concat([PACKED, Buffer.from('junk')]), 'FetchError Junk after gzip data'],
    [
      'followed by nothing but zeros',
      Buffer.concat([PACKED, Buffer.alloc(9)]),
      'FetchError Junk after gzip data',
    ],
    ['two of them', Buffer.concat([PACKED, PACKED]), 'FetchError Junk after gzip data'],
    [
      'one that follows an empty one',
      Buffer.concat([gzipSync(''), PACKED]),
      'FetchError Junk after gzip data',
    ],
  ])('a body that is %s breaks, and its last piece is not passed on', async (_name, body, why) => {
    for (const names of ['testgunzip', 'gunzip', 'testgunzip gunzip', 'gunzip gzip']) {
      for (const places of [[], [30], [body.length - 2]]) {
        const { chain, records } = fetchChain(names, GZIP);
        const taking = await new Taking(chain).give(cut(body, places), false);
        expect(taking.outcome).toBe('broken');
        if (names === 'testgunzip') expect(taking.bytes.length).toBeLessThan(body.length);
        expect(records.join('\n')).toMatch(why);
      }
    }
  });

  it('a bomb waits for its taker', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const { chain } = fetchChain('gunzip', GZIP);
    const taking = new Taking(chain, true);
    expect(taking.put(bomb, true)).toBe('wait');
    while (taking.got.length < 20) await nextTurn();
    taking.cancel();
    expect(taking.most).toBeLessThanOrEqual(65_536);
  });

  it('call nobody after the flow was cancelled', async () => {
    for (const names of ['gzip', 'gunzip', 'testgunzip']) {
      const { chain } = fetchChain(names, names === 'gzip' ? {} : GZIP);
      const taking = new Taking(chain);
      taking.put(names === 'gzip' ? TEXT : PACKED.subarray(0, 40));
      taking.cancel();
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect([taking.got, taking.asked, taking.outcome]).toEqual([[], 0, 'broken']);
    }
  });
});

describe('filters that read a page for includes', () => {
  const of = (unit: string, size: number): Buffer => Buffer.from(`<p>${unit.repeat(size / unit.length)}`);
  const read = (names: string, body: Buffer, slow = false) => {
    const made = fetchChain(names, {});
    const pieces = cut(
      body,
      Array.from({ length: body.length / 16_384 }, (_, i) => i * 16_384),
    );
    return { ...made, taken: new Taking(made.chain, slow).give(pieces, false) };
  };

  it.each([
    'a<esi:remove>b</esi:remove>',
    `<esi:comment/>${'a longer text '.repeat(4)}`,
    'text, and no tag',
    ' ',
  ])('pack %j so that it is whole, for a fast and a slow taker', async (unit) => {
    for (const slow of [false, true]) {
      const body = of(unit, 300_000);
      const { chain, taken, records } = read('esi_gzip', body, slow);
      const { bytes } = await taken;
      expect(gunzipSync(bytes).equals(body)).toBe(true);
      chain.report();
      const { start, last, stop } = deflatePlaces(bytes) as DeflatePlaces;
      expect(records).toContain(`Gzip G F E ${body.length} ${bytes.length} ${start} ${last} ${stop}`);
      if (unit.startsWith('a<'))
        expect(goesOut(chain.plan as Buffer)).toBe(3 + Math.floor(300_000 / unit.length));
    }
  });

  describe('in turns without time', () => {
    beforeAll(() => turns.follow(() => 0));
    afterAll(() => turns.follow(() => 2));

    it.each(['esi', 'esi_gzip'])('%s parses a few statements in each of them', async (names) => {
      const { chain, records } = fetchChain(names, {});
      const taking = new Taking(chain).give([of('a<esi:bogus/>', 100_000)], false);
      const counts = [records.length];
      for (let turn = 0; turn < 40; turn++) {
        await nextTurn();
        counts.push(records.length);
      }
      const most = Math.max(...counts.map((count, i) => count - (counts[i - 1] ?? 0)));
      expect(most).toBeLessThan(400);
      expect((await taking).outcome).toBe('whole');
      expect(records.filter((record) => record.startsWith('ESI_xmlerror')).length).toBe(7692);
    });

    it('esi_gzip packs a few parts in each of them', async () => {
      const { chain } = fetchChain('esi_gzip', {});
      const body = of('a<esi:remove>b</esi:remove>', 140_000);
      const taking = new Taking(chain);
      const taken = taking.give([body], false);
      let most = 0;
      while (taking.outcome === null) {
        const before = taking.got.length;
        await nextTurn();
        most = Math.max(most, taking.got.length - before);
      }
      expect(most).toBeLessThan(30);
      expect(gunzipSync((await taken).bytes).equals(body)).toBe(true);
    });

    it.each(['esi', 'esi_gzip', 'gunzip esi', 'gunzip esi_gzip'])(
      '%s does nothing after the flow was cancelled, wherever that is',
      async (names) => {
        const body = of('a<esi:remove>b</esi:remove><esi:bogus/>', 20_000);
        for (let at = 0; at < 60; at += 3) {
          const { chain, records } = fetchChain(names, names.startsWith('gunzip') ? GZIP : {});
          const taking = new Taking(chain);
          taking.put(names.startsWith('gunzip') ? gzipSync(body) : body, true);
          for (let turn = 0; turn < at; turn++) await nextTurn();
          taking.cancel();
          const before = [taking.got.length, taking.asked, records.length];
          for (let turn = 0; turn < 10; turn++) await nextTurn();
          expect([taking.got.length, taking.asked, records.length]).toEqual(before);
        }
      },
    );

    it.each(['esi', 'esi_gzip'])('%s makes the same of a page in any pieces', async (names) => {
      const body = of('some text<esi:remove>b</esi:remove><esi:include src="/f"/>', 9000);
      for (const slow of [false, true]) {
        for (const size of [100, 2048, 5000, 10_000]) {
          const { chain } = fetchChain(names, {});
          const pieces = cut(
            body,
            Array.from({ length: body.length / size }, (_, i) => i * size),
          );
          const { bytes } = await new Taking(chain, slow).give(pieces, size === 100);
          expect((names === 'esi' ? bytes : gunzipSync(bytes)).equals(body)).toBe(true);
          expect(goesOut(chain.plan as Buffer)).toBe(3 + Math.floor(9000 / 58) * 9);
        }
      }
    });
  });

  // The other one parses and plans as this one does, and packs besides.
  it.each(isFull ? ['esi', 'esi_gzip'] : ['esi'])(
    '%s gives a page up of which no plan could be kept',
    async (names) => {
      const { taken, records } = read(names, of(`a<esi:include src="/${'f'.repeat(100)}"/>`, 6_000_000));
      const { outcome, bytes } = await taken;
      expect([outcome, bytes.length < 6_000_000]).toEqual(['broken', true]);
      expect(records).toContain('FetchError The page has more ESI statements than a plan can hold');
    },
  );
});

describe('filters of a delivery', () => {
  const ranged = {
    length: PACKED.length,
    unpacked: TEXT.length,
    gzipped: true,
    request: { Range: 'bytes=5-20' },
  };

  it('cut a range out of what was unpacked, in any pieces', async () => {
    for (let at = 0; at <= PACKED.length; at++) {
      const { chain } = deliveryChain('gunzip range', ranged);
      const taking = await new Taking(chain, at % 3 === 0).give(cut(PACKED, [at]), at % 2 === 0);
      expect(taking.bytes.equals(TEXT.subarray(5, 21))).toBe(true);
    }
  });

  it('read only the part that is asked for where nothing changes bytes before', () => {
    const { chain, records } = deliveryChain('range', { ...ranged, gzipped: false, length: 100 });
    expect([chain.works, chain.from, chain.to, chain.length, chain.head.status]).toEqual([
      false,
      5,
      21,
      16,
      206,
    ]);
    chain.report(1, 16);
    expect(records.at(-1)).toBe('VdpAcct range 1 16');
  });

  it('break on a part of packed data', async () => {
    const { chain } = deliveryChain('range gunzip', ranged);
    expect([chain.from, chain.to, chain.length]).toEqual([5, 21, -1]);
    const taking = await new Taking(chain).give([PACKED.subarray(5, 21)], false);
    expect(taking.outcome).toBe('broken');
  });

  it('break on what is not gzip when the program names them', async () => {
    for (const names of ['gunzip', 'gunzip range']) {
      const { chain, records } = deliveryChain(names, { length: TEXT.length });
      const taking = await new Taking(chain).give([TEXT], false);
      expect([taking.outcome, taking.bytes.length, chain.length]).toEqual(['broken', 0, -1]);
      expect(records).toContain('Gzip Gunzip error: -3 (incorrect header check)');
    }
  });

  it('report data after the end of the stream', async () => {
    for (const behind of [Buffer.from([0]), Buffer.from('junk'), PACKED]) {
      const { chain, records } = deliveryChain('gunzip', { gzipped: true });
      const taking = await new Taking(chain).give([PACKED, behind], false);
      expect(taking.outcome).toBe('broken');
      expect(records).toContain('Gzip G(un)zip error: 1 (junk after VGZ_END)');
    }
  });

  it('take nothing for nothing', async () => {
    for (const names of ['gunzip', 'gunzip gunzip', 'gunzip range']) {
      const { chain, records } = deliveryChain(names, { gzipped: true });
      const taking = await new Taking(chain).give([], false);
      expect([taking.outcome, taking.bytes.length]).toEqual(['whole', 0]);
      chain.report(0, 0);
      expect(records).toContain('Gzip U D - 0 0 0 0 0');
    }
  });

  it('do nothing with what is not asked for', () => {
    const { chain, records } = deliveryChain('range', { length: 10 });
    expect(chain.works).toBe(false);
    chain.report(1, 10);
    expect([chain.length, records]).toEqual([10, []]);
  });
});

describe('lists of filters', () => {
  const params = { ...fetchChain('', {}).params };
  const off = { ...params, http_gzip_support: 0 };
  const usual = (
    fields: Record<string, string>,
    wishes: Partial<Record<'doEsi' | 'doGzip' | 'doGunzip', boolean>>,
    p = params,
  ) =>
    usualFetchFilters(
      message(Tag.BerespMethod, fields),
      { doEsi: false, doGzip: false, doGunzip: false, ...wishes },
      p,
    ).text;

  it('are those of the switches', () => {
    expect(usual({}, {})).toBe('');
    expect(usual({}, { doGzip: true })).toBe(' gzip');
    expect(usual({ 'Content-Encoding': 'br' }, { doGzip: true, doGunzip: true })).toBe('');
    expect(usual(GZIP, { doGzip: true })).toBe(' testgunzip');
    expect(usual({ 'Content-Encoding': 'GZip' }, { doGunzip: true })).toBe(' gunzip');
    expect(usual({}, { doEsi: true })).toBe(' esi');
  });

  it('pack and unpack nothing without gzip support', () => {
    expect(usual({}, { doGzip: true }, off)).toBe('');
    expect(usual(GZIP, { doGunzip: true }, off)).toBe(' testgunzip');
  });

  it('of a delivery go by the object, the client and the request', () => {
    const facts = (isStoredGzip: boolean, canGzip: boolean, request: Record<string, string>) => {
      const http = message(Tag.ReqMethod, request);
      http.method = 'GET';
      const resp = message(Tag.RespMethod, {});
      resp.status = 200;
      return { http, resp, isStoredGzip, canGzip, isPage: false };
    };
    const range = { Range: 'bytes=0-1' };
    expect(usualDeliveryFilters(facts(false, false, {}), params).text).toBe('');
    expect(usualDeliveryFilters(facts(true, true, {}), params).text).toBe('');
    expect(usualDeliveryFilters(facts(true, false, range), params).text).toBe(' gunzip range');
    expect(usualDeliveryFilters(facts(true, false, range), off).text).toBe(' range');
  });

  it.each([
    ['rubbish', "Filter '...rubbish' not found"],
    ['gunzip  rubbish more ', "Filter '...rubbish more ' not found"],
    ['GUNZIP', "Filter '...GUNZIP' not found"],
    ['range', "Filter '...range' not found"],
  ])('by the text %j are refused', (text, why) => {
    expect(namedFetchFilters(text, [])).toMatchObject({ unknown: why });
  });

  it('keep the order and the text that they were given', () => {
    const list = namedDeliveryFilters(' range  gunzip ', []);
    expect(list).toMatchObject({ text: ' range  gunzip ', filters: [{ name: 'range' }, { name: 'gunzip' }] });
    expect(namedDeliveryFilters('gzip', [])).toMatchObject({ unknown: "Filter '...gzip' not found" });
  });
});
