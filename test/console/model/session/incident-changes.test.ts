// Changes in an incident: statuses, clients, outcomes, errors, times of backends and causes of misses; counters that
// move together and bans by the hundred are one row each.
import { expect, it } from 'vitest';
import { CounterHistory } from '../../../../console/model/counters/counter-history.ts';
import { CounterTrail } from '../../../../console/model/counters/counter-trail.ts';
import { changesOf } from '../../../../console/model/session/changes.ts';
import type { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { EventLog } from '../../../../console/model/session/event-log.ts';
import { FactTrail } from '../../../../console/model/traffic/fact-trail.ts';
import type { TrafficFacts } from '../../../../console/model/traffic/traffic-facts.ts';
import { UrlTrail } from '../../../../console/model/traffic/url-trail.ts';
import { CHANGES_VIEW } from '../../../../console/views/changes/changes-view.ts';
import { describeCounters } from '../../../../daemon/stats/counters-reader.ts';

const NAMES = ['MAIN.uptime', 'MAIN.client_req', 'MAIN.s_pass', 'MAIN.sess_conn'];
const verdict = { cause: 'cookie', detail: '', sentence: '' };

function fact(f: Partial<TrafficFacts>): TrafficFacts {
  const page = { method: 'GET', url: '/', host: 'h', lookupUrl: '/', lookupHost: 'h', ended: 0 };
  return {
    ...page,
    client: '1.1.1.1',
    backend: '',
    seconds: 0.01,
    status: 200,
    handling: 'hit',
    ...f,
  } as TrafficFacts;
}

/** Two minutes of twenty requests a second; in the second one /cart fails on a slow backend, asked by one client. */
function incident(): DaemonSession {
  const [urls, facts, counters] = [new UrlTrail(), new FactTrail(), new CounterTrail()];
  const history = new CounterHistory();
  history.describe(describeCounters(NAMES));
  for (let at = 1001; at <= 1120; at++) {
    const bad = at >= 1060;
    for (let i = 0; i < 20; i++) {
      const failing = bad && i < 10;
      const f = fact({
        kind: 'request',
        ...(failing
          ? { status: 503, handling: 'pass', client: '6.6.6.6', lookupUrl: '/cart' }
          : { status: 200, client: `1.1.1.${i}` }),
      });
      urls.count(f, at);
      facts.count(f, at);
    }
    facts.count(fact({ kind: 'fetch', backend: 'shop', seconds: bad ? 2 : 0.02, failed: bad }), at);
    const passed = Math.max(0, at - 1060) * 10;
    counters.add({ at, names: NAMES, values: Float64Array.from([at, at * 20, passed, passed]) });
  }
  const events = new EventLog();
  for (let i = 0; i < 337; i++)
    events.reported('noted', `ban req.url == /${i}`, 1100, { at: 1100, kind: 'ban' });
  const unserved = Array.from({ length: 100 }, () => ({ at: 1100, verdict }));
  return {
    trail: counters,
    counters: history,
    events,
    traffic: {
      sample: { urls, facts, unserved: { last: () => unserved } },
      judgeUnserved: () => undefined,
    },
    source: {},
    lastDataAt: 1120,
    now: () => 1120,
    utc: true,
    version: '',
  } as unknown as DaemonSession;
}

it('names the status, the client, the outcome, the error, the backend and the cause', () => {
  const found = changesOf(incident(), 60).changes.map(({ kind, name }) => `${kind} ${name}`);
  for (const expected of [
    'status 503',
    'client 6.6.6.6',
    'outcome pass',
    'error h/cart',
    'failure shop',
    'time shop',
    'cause cookie ',
  ])
    expect(found).toContain(expected);
  const time = changesOf(incident(), 60).changes.find(({ kind }) => kind === 'time');
  expect([time?.before.toFixed(2), time?.now.toFixed(2)]).toEqual(['0.02', '2.00']);
});

it('folds counters that move together, and events by the hundred', () => {
  const rows = CHANGES_VIEW.definition.rows(incident(), '1');
  const bans = rows.filter(({ facts }) => facts.kind === 'ban');
  expect(bans.map(({ cells }) => cells[3]?.text)).toEqual(['337 times']);
  const counters = rows.filter(({ facts }) => facts.kind === 'counter');
  expect(counters.map(({ cells }) => cells[2]?.text)).toEqual(['MAIN.s_pass and 1 that changed alike']);
  expect(
    rows
      .find(({ facts }) => facts.kind === 'time')
      ?.cells.slice(2)
      .map((cell) => cell.text),
  ).toEqual(['shop: mean time to the first byte', '20.0ms', '2.00s']);
});

it('stays small however many clients there are', () => {
  const facts = new FactTrail();
  for (let i = 0; i < 5000; i++) facts.count(fact({ kind: 'request', client: `c${i}` }), 1000);
  expect(facts.between(990, 1010).tallies.size).toBeLessThan(250);
  expect(facts.between(990, 1010).requests).toBe(5000);
  facts.count(fact({ kind: 'request' }), 9000);
  expect(facts.between(0, 8000).requests).toBe(0);
});
