// The life of a response, calculated a second time from what the program has made of its fields (std.rfc_ttl).
import { describe, expect, it } from 'vitest';
import { recalculateLifetime, setLifetime } from '../../../daemon/fetch/set-lifetime.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { Params } from '../../../daemon/params/parameter-set.ts';
import { FakeLog, NOW } from '../vcl/fake-task.ts';

interface State {
  mode: string;
  uncacheable: boolean;
  ttl: number;
}

/** A fetch whose response has Cache-Control: max-age=60, and another life. */
function fetched(state: Partial<State> = {}, strict = false) {
  const params = new Params().hot;
  params.http_profile = strict ? 1 : 0;
  const beresp = new HttpMessage(0);
  beresp.status = 200;
  beresp.add('Cache-Control', 'max-age=60');
  return {
    ...{ mode: 'fetch', uncacheable: false, ttl: 1, grace: 2, keep: 3, tOrigin: 0, ...state },
    beresp,
    bereq: new HttpMessage(0),
    log: Object.assign(new FakeLog(), { tPrev: NOW }),
    core: { params, lenientDates: false },
    ctx: { now: NOW + 5 },
  };
}

const records = (bo: { log: FakeLog }): string[] => bo.log.of('TTL');

describe('a life that is calculated again', () => {
  it('comes from the fields that the response has now, and is logged', () => {
    const bo = fetched();
    bo.beresp.set('Cache-Control', 'max-age=30, stale-while-revalidate=7');
    bo.beresp.set('Age', '10');
    recalculateLifetime(bo);
    expect(bo).toMatchObject({ ttl: 30, grace: 7, keep: 0, tOrigin: NOW + 5 - 10, uncacheable: false });
    expect(records(bo)).toEqual([expect.stringMatching(/^RFC 30 7 0 .* cacheable$/)]);
  });

  it('leaves it to the program whether the response is cacheable', () => {
    const bo = fetched({ uncacheable: true });
    recalculateLifetime(bo);
    expect(bo).toMatchObject({ ttl: 60, grace: 10, uncacheable: true });
    expect(records(bo)).toEqual([expect.stringMatching(/ uncacheable$/)]);
  });

  it('is none for a pass', () => {
    const bo = fetched({ mode: 'pass', uncacheable: true });
    recalculateLifetime(bo);
    expect(bo).toMatchObject({ ttl: -1, grace: 0, keep: 0 });
    expect(records(bo)).toEqual([]);
  });

  it('is over at once for what a strict cache may not store', () => {
    const bo = fetched({}, true);
    bo.beresp.set('Cache-Control', 'no-store');
    recalculateLifetime(bo);
    expect(bo).toMatchObject({ ttl: 0, grace: 0, keep: 0, uncacheable: false });
    const marked = fetched({ uncacheable: true }, true);
    marked.beresp.set('Cache-Control', 'no-store');
    recalculateLifetime(marked);
    expect(marked).toMatchObject({ ttl: 120, grace: 0, keep: 0, uncacheable: true });
  });
});

describe('the first life of a response', () => {
  it('leaves a marker for what a strict cache may not store', () => {
    const bo = fetched({}, true);
    bo.beresp.set('Cache-Control', 'no-store');
    expect(setLifetime(bo)).toBe(NOW);
    expect(bo).toMatchObject({ ttl: 120, grace: 0, keep: 0, uncacheable: true });
    expect(records(bo)).toEqual([expect.stringMatching(/ uncacheable$/)]);
  });
});
