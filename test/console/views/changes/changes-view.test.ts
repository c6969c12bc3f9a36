// Texts of the changes view about rates: they add nothing that the rates do not show.
import { expect, it } from 'vitest';
import { CounterHistory } from '../../../../console/model/counters/counter-history.ts';
import { CounterTrail } from '../../../../console/model/counters/counter-trail.ts';
import type { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { EventLog } from '../../../../console/model/session/event-log.ts';
import { FactTrail } from '../../../../console/model/traffic/fact-trail.ts';
import { UrlTrail } from '../../../../console/model/traffic/url-trail.ts';
import { CHANGES_VIEW } from '../../../../console/views/changes/changes-view.ts';
import { describeCounters } from '../../../../daemon/stats/counters-reader.ts';

const NAMES = ['MAIN.uptime', 'MAIN.client_req'];

/** Requests per second in one minute, and in the next. */
function sessionOf(before: number, now: number, from = 1): DaemonSession {
  const trail = new CounterTrail();
  const counters = new CounterHistory();
  counters.describe(describeCounters(NAMES));
  for (let at = from; at <= 121; at++) {
    const all = Math.min(at, 61) * before + Math.max(0, at - 61) * now;
    trail.add({ at, names: NAMES, values: Float64Array.from([at, all]) });
  }
  return {
    trail,
    counters,
    events: new EventLog(),
    traffic: {
      sample: { urls: new UrlTrail(), facts: new FactTrail(), unserved: { last: () => [] } },
      judgeUnserved: () => undefined,
    },
    source: {},
    lastDataAt: 121,
    now: () => 121,
    connection: { state: 'up' },
  } as unknown as DaemonSession;
}

/** Descriptions of the requests. */
function words(before: number, now: number): string {
  const session = sessionOf(before, now);
  const [row] = CHANGES_VIEW.definition.rows(session, '1');
  return (
    row
      ?.detail()[0]
      ?.map(({ text }) => text)
      .join('') ?? ''
  );
}

it.each([
  [0, 5000, '0/s before, 5,000/s now'],
  [5000, 0, '5,000/s before, 0/s now'],
  [2, 9000, '2.0/s before, 9,000/s now (×4,500)'],
  [10, 15, '10.0/s before, 15.0/s now (+50 %)'],
  [20, 5, '20.0/s before, 5.0/s now (−75 %)'],
])('from %d to %d', (before, now, text) => {
  expect(words(before, now)).toBe(text);
});

it('leads to what was asked for: as it was looked up in the log, as it was sent to fetch it again', () => {
  const session = sessionOf(1, 10);
  for (let at = 1; at <= 121; at++) {
    const looked = { lookupUrl: '/shop/cart', lookupHost: 'norm.example', ended: at };
    // The newest represents all.
    const host = at < 100 ? 'a.example' : 'b.example';
    for (let i = 0; i < (at > 61 ? 10 : 1); i++)
      session.traffic.sample.urls.count({ url: '/cart', host, ...looked }, at);
  }
  const row = CHANGES_VIEW.definition.rows(session, '1').find(({ facts }) => facts.kind === 'url');
  if (row === undefined) throw new Error('no URL has moved');
  expect(CHANGES_VIEW.definition.subjects?.(row)).toEqual([
    { kind: 'url', key: '/shop/cart', of: 'norm.example', sent: { url: '/cart', host: 'b.example' } },
  ]);
  expect(Number(row.facts.since)).toBe(10);
});

it('reports that nothing moved only where there is something to compare with', () => {
  const empty = (from: number): string => CHANGES_VIEW.definition.empty(sessionOf(10, 10, from), '1');
  expect(empty(1)).toBe('no events, and no counter or URL changed');
  expect(empty(100)).toBe('no events; nothing to compare with yet');
});
