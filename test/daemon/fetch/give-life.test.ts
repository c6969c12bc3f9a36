// The life of a response, calculated a second time from what the program has made of its fields (std.rfc_ttl).
import { describe, expect, it } from 'vitest';
import type { BusyObj } from '../../../daemon/fetch/busyobj.ts';
import { giveLife, giveLifeAgain } from '../../../daemon/fetch/give-life.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { Params } from '../../../daemon/params/parameter-set.ts';
import { FakeLog, NOW } from '../vcl/fake-task.ts';

type Response = Pick<BusyObj, 'mode' | 'uncacheable' | 'ttl' | 'grace' | 'keep' | 'tOrigin'>;

/** A fetch whose response has Cache-Control: max-age=60, and another life. */
function fetched(state: Partial<Response> = {}, strict = false): BusyObj {
  const params = new Params().hot;
  params.http_profile = strict ? 1 : 0;
  const beresp = new HttpMessage(0);
  beresp.status = 200;
  beresp.add('Cache-Control', 'max-age=60');
  const log = Object.assign(new FakeLog(), { tPrev: NOW });
  const bo: Partial<Response> = {
    mode: 'fetch',
    uncacheable: false,
    ttl: 1,
    grace: 2,
    keep: 3,
    tOrigin: 0,
    ...state,
  };
  const parts = {
    beresp,
    bereq: new HttpMessage(0),
    log,
    core: { params, lenientDates: false },
    ctx: { now: NOW + 5 },
  };
  return Object.assign(bo, parts) as unknown as BusyObj;
}

const records = (bo: BusyObj): string[] => (bo.log as unknown as FakeLog).of('TTL');

describe('a life that is calculated again', () => {
  it('comes from the fields that the response has now, and is logged', () => {
    const bo = fetched();
    bo.beresp.set('Cache-Control', 'max-age=30, stale-while-revalidate=7');
    bo.beresp.set('Age', '10');
    giveLifeAgain(bo);
    expect(bo).toMatchObject({ ttl: 30, grace: 7, keep: 0, tOrigin: NOW + 5 - 10, uncacheable: false });
    expect(records(bo)).toEqual([expect.stringMatching(/^RFC 30 7 0 .* cacheable$/)]);
  });

  it('leaves it to the program whether the response is cacheable', () => {
    const bo = fetched({ uncacheable: true });
    giveLifeAgain(bo);
    expect(bo).toMatchObject({ ttl: 60, grace: 10, uncacheable: true });
    expect(records(bo)).toEqual([expect.stringMatching(/ uncacheable$/)]);
  });

  it('is none for a pass', () => {
    const bo = fetched({ mode: 'pass', uncacheable: true });
    giveLifeAgain(bo);
    expect(bo).toMatchObject({ ttl: -1, grace: 0, keep: 0 });
    expect(records(bo)).toEqual([]);
  });

  it('is over at once for what a strict cache may not store', () => {
    const bo = fetched({}, true);
    bo.beresp.set('Cache-Control', 'no-store');
    giveLifeAgain(bo);
    expect(bo).toMatchObject({ ttl: 0, grace: 0, keep: 0, uncacheable: false });
    const marked = fetched({ uncacheable: true }, true);
    marked.beresp.set('Cache-Control', 'no-store');
    giveLifeAgain(marked);
    expect(marked).toMatchObject({ ttl: 120, grace: 0, keep: 0, uncacheable: true });
  });
});

describe('the first life of a response', () => {
  it('leaves a marker for what a strict cache may not store', () => {
    const bo = fetched({}, true);
    bo.beresp.set('Cache-Control', 'no-store');
    expect(giveLife(bo)).toBe(NOW);
    expect(bo).toMatchObject({ ttl: 120, grace: 0, keep: 0, uncacheable: true });
    expect(records(bo)).toEqual([expect.stringMatching(/ uncacheable$/)]);
  });
});
