// The screens in a bad minute: errors that are alike are one row, a recovery is no error, a page without one of its
// fragments is marked, letters on charts are explained, and a list that was cut says so.
import { afterEach, beforeAll, expect, it } from 'vitest';
import { plain } from '../../../../console/draw/spans.ts';
import { makeTheme } from '../../../../console/draw/theme.ts';
import type { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { EventLog } from '../../../../console/model/session/event-log.ts';
import { marksLegend } from '../../../../console/views/chart-period.ts';
import { latencySummary } from '../../../../console/views/dashboard/dashboard-rows.ts';
import { errorRows } from '../../../../console/views/dashboard/last-errors.ts';
import { isRecovery } from '../../../../console/views/events/event-tones.ts';
import { EVENTS_VIEW } from '../../../../console/views/events/events-view.ts';
import { timeline } from '../../../../console/views/log/timeline.ts';
import { FAKE_START, fakeGroup, fakeRecording, record } from '../../fake-recording.ts';
import { Stage } from '../../stage.ts';

let stage: Stage | null = null;

beforeAll(() => {
  process.env.TZ = 'UTC';
});

afterEach(() => {
  stage?.close();
  stage = null;
});

async function open(): Promise<Stage> {
  stage = new Stage({ recording: { ...fakeRecording(3), steps: [] }, columns: 110, rows: 32 });
  await stage.settle();
  return stage;
}

const REQUEST = { method: 'GET', url: '/a', status: 200, handling: 'HIT', seconds: 0.01, body: 9 } as const;

it('folds errors that are alike, so that the cause is not pushed out, and leaves recoveries out', async () => {
  const s = await open();
  s.session.events.reported('noted', 'boot.shop went sick (down): 503', FAKE_START, {
    at: FAKE_START,
    kind: 'health',
  });
  s.session.events.reported('noted', 'boot.shop went healthy (up): 200', FAKE_START + 1, {
    at: FAKE_START + 1,
    kind: 'health',
  });
  for (let i = 0; i < 20; i++)
    s.session.log.errors.add(
      fakeGroup({ ...REQUEST, status: 503, handling: 'PASS', vxid: 10 * i + 10, at: FAKE_START + 2 + i }),
    );
  const rows = errorRows(s.session, 100, 4, true, makeTheme('none', true)).map(plain);
  expect(rows).toHaveLength(2);
  expect(rows[0]).toMatch(/503 .* 20x GET \/a/);
  expect(rows[1]).toContain('boot.shop went sick');
});

it('keeps the death of a worker among errors and long turns that are newer', async () => {
  const s = await open();
  const note = (kind: 'turn' | 'worker', after: number, text: string): void =>
    s.session.events.reported('noted', text, FAKE_START + after, { at: FAKE_START + after, kind });
  note('worker', 0, 'Child (32577) died signal=9 (SIGKILL); its cache and its bans are gone');
  for (const after of [1, 2, 3]) {
    for (const where of ['thread 0', 'manager', 'thread 1'])
      note('turn', after, `${where} was held up for ${250 + after} ms: waiting for a processor`);
    s.session.log.errors.add(
      fakeGroup({
        ...REQUEST,
        url: `/${after}`,
        status: 503,
        handling: 'PASS',
        vxid: 10 * after,
        at: FAKE_START + after,
      }),
    );
  }
  const words = (height: number): string[] =>
    errorRows(s.session, 100, height, true, makeTheme('none', true)).map(
      (row) => /GET \S+|died|thread \d|manager/.exec(plain(row))?.[0] ?? '',
    );
  expect(words(1)).toEqual(['GET /3']);
  expect(words(2)).toEqual(['GET /3', 'died']);
  expect(words(4)).toEqual(['GET /3', 'GET /2', 'GET /1', 'died']);
  // Where there is room for one more, of one thread.
  expect(words(5).filter((word) => /thread|manager/.test(word))).toHaveLength(1);
});

it('folds errors of many URLs with one reason', async () => {
  const s = await open();
  for (let i = 0; i < 20; i++) {
    const [request] = fakeGroup({
      ...REQUEST,
      url: `/img/${i}`,
      status: 503,
      handling: 'MISS',
      vxid: 10 * i + 10,
      at: FAKE_START + i,
    });
    if (request === undefined) throw new Error('no request');
    const reason = record('b', 10 * i + 11, 'FetchError', 'backend images: unhealthy');
    const fetch = { ...request, level: 2, type: 'bereq', reason: 'fetch', vxid: 10 * i + 11 } as const;
    s.session.log.errors.add([request, { ...fetch, parent: 10 * i + 10, records: reason }]);
  }
  const rows = errorRows(s.session, 100, 4, true, makeTheme('none', true)).map(plain);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatch(/ 20x GET \/img\/19 and 19 more .*backend images: unhealthy/);
});

it('does not count errors as all when older ones were dropped', async () => {
  const s = await open();
  for (let i = 0; i < 250; i++)
    s.session.log.errors.add(
      fakeGroup({ ...REQUEST, status: 503, handling: 'PASS', vxid: 10 * i + 10, at: FAKE_START + 2 + i }),
    );
  const rows = errorRows(s.session, 100, 4, true, makeTheme('none', true)).map(plain);
  expect(rows[0]).toMatch(/503 .* 200\+x GET \/a/);
});

it('names the kind of an event once', async () => {
  const s = await open();
  const texts = {
    passes: 'passes rose from 1 % to 9 %',
    'hit-rate': 'hit rate fell from 9 % to 1 %',
  } as const;
  for (const kind of ['passes', 'hit-rate'] as const)
    s.session.events.reported('noted', texts[kind], FAKE_START, { at: FAKE_START, kind });
  const rows = errorRows(s.session, 100, 4, true, makeTheme('none', true)).map((row) => plain(row).slice(10));
  expect(rows.sort()).toEqual([texts['hit-rate'], texts.passes]);
});

it('does not cut what the death of a worker means, down to the smallest screen', async () => {
  const s = await open();
  const text = 'Child (32577) died signal=9 (SIGKILL); restarted at once; its cache and its bans are gone';
  s.session.events.reported('noted', text, FAKE_START, { at: FAKE_START, kind: 'worker' });
  const row = (width: number): string =>
    plain(errorRows(s.session, width, 4, true, makeTheme('none', true))[0] ?? []);
  expect(row(156)).toContain(`worker: ${text}`);
  expect(row(76)).toMatch(/worker: died signal=9 \(SIGKILL\); its cache and its bans are gone$/);
  expect(row(56)).toMatch(/worker: died signal=9; cache and bans are gone$/);
  expect(row(56)).toHaveLength(56);
});

it('knows a recovery from trouble', () => {
  const is = (kind: 'health' | 'worker' | 'purges', text: string): boolean =>
    isRecovery({ at: 1, kind, text });
  expect(is('health', 'boot.a went healthy (up): 200')).toBe(true);
  expect(is('health', 'boot.a went sick (down): 503')).toBe(false);
  expect(is('worker', 'Child (1) started')).toBe(true);
  expect(is('worker', 'Child (1) died signal=9 (SIGKILL); restarted at once')).toBe(false);
  expect(is('purges', 'over: 200 purges in 20 s, 3 objects gone')).toBe(true);
});

it('marks a page that was delivered without one of its fragments', async () => {
  const s = await open();
  const [page] = fakeGroup({ ...REQUEST, vxid: 10, at: FAKE_START });
  const [part] = fakeGroup({
    ...REQUEST,
    url: '/part',
    status: 503,
    handling: 'PASS',
    vxid: 12,
    at: FAKE_START,
  });
  if (page === undefined || part === undefined) throw new Error('no groups');
  const fragment = { ...part, level: 2, reason: 'esi', parent: 10 };
  s.session.log.kept.add([page, fragment]);
  s.session.log.kept.add([
    page,
    { ...fragment, records: fakeGroup({ ...REQUEST, vxid: 12, at: 1 })[0]?.records ?? part.records },
  ]);
  await s.keys('2');
  const rows = (await s.screen()).split('\n').filter((row) => / GET +\/a/.test(row));
  expect(rows.map((row) => / 200 ! /.test(row))).toEqual([true, false]);
});

it('explains the letters of a chart, those that came last first, as far as there is room', () => {
  const events = new EventLog();
  for (const kind of ['ban', 'ban', 'program'] as const)
    events.reported('noted', `${kind} x`, 990, { at: 990, kind });
  events.reported('noted', 'old', 100, { at: 100, kind: 'panic' });
  const session = { events, lastDataAt: 1000 } as unknown as DaemonSession;
  expect(plain(marksLegend(session, 60, 40))).toBe('P program  B ban  ');
  // No room for the word of a program.
  expect(plain(marksLegend(session, 60, 10))).toBe('B ban  ');
  expect(plain(marksLegend(session, 5, 40))).toBe('');
});

it('says that the daemon keeps only the last events of a kind', () => {
  const events = new EventLog();
  const session = { events, now: () => 2000, utc: true } as unknown as DaemonSession;
  for (let i = 0; i < 199; i++) events.reported('noted', `ban ${i}`, i, { at: 1000 + i, kind: 'ban' });
  expect(EVENTS_VIEW.definition.remark(session, '')).toMatch(/^199 since /);
  events.reported('noted', 'ban', 1, { at: 1500, kind: 'ban' });
  expect(EVENTS_VIEW.definition.remark(session, '')).toMatch(/^200 \(ban: last 200 only\) since /);
});

it('does not say of a fetch that was never sent that it waited for the first byte', () => {
  const fetch = (...events: string[]) =>
    timeline([
      {
        level: 1,
        type: 'bereq',
        reason: 'fetch',
        vxid: 3,
        parent: 2,
        records: Buffer.concat(
          ['Start', ...events].map((event, i) => record('b', 3, 'Timestamp', `${event}: ${100 + i} ${i} 1`)),
        ),
      },
    ]).steps.map((step) => step.label);
  expect(fetch('Fetch', 'Beresp')).toEqual(['program (backend_fetch)', 'no connection, not sent']);
  expect(fetch('Bereq', 'Beresp')).toEqual(['request sent', 'waited for the first byte']);
});

it('cuts no latency, however narrow the panel is', async () => {
  stage = new Stage({ recording: fakeRecording(40), columns: 110, rows: 32 });
  await stage.play(40);
  const theme = makeTheme('none', true);
  for (let width = 15; width < 45; width++)
    for (const row of latencySummary(stage.session, width, theme).map(plain)) {
      expect(row.length, row).toBeLessThanOrEqual(width);
      expect(row).toMatch(/(p99|\d[mµ]?s|-|–)$/);
    }
});
