// Events in the console: requested on connect, marked on charts, with a link to their subject.
import { afterEach, expect, it } from 'vitest';
import { namedIn } from '../../../../console/views/events/events-view.ts';
import { EVENT_KINDS } from '../../../../protocol/tables/events.ts';
import { FAKE_START, fakeRecording } from '../../fake-recording.ts';
import { Stage } from '../../stage.ts';

let stage: Stage | null = null;
afterEach(() => {
  stage?.close();
  stage = null;
});

const PAST = [
  { time: FAKE_START - 90_000, kind: 'program', text: 'using old' },
  { time: FAKE_START + 20, kind: 'parameter', text: 'default_ttl 60.000 (was 120.000)' },
  { time: FAKE_START + 40.5, kind: 'health', text: 'boot.images went sick: HTTP/1.1 503 Oops' },
  { time: FAKE_START + 41, kind: 'from the future', text: 'unknown here' },
];

async function open(columns = 110, rows = 32, more: typeof PAST = []): Promise<Stage> {
  const recording = fakeRecording(80);
  const body = JSON.stringify([2, ['event.list', '-j'], FAKE_START, ...PAST, ...more]);
  recording.commands['event.list -j'] = { status: 200, body };
  // Events in the list during the recording were also sent live.
  const known = [...PAST, ...more].flatMap(({ time, kind, text }) => {
    const named = EVENT_KINDS.find(({ name }) => name === kind)?.name;
    return time < FAKE_START || named === undefined ? [] : [{ at: time, kind: named, text }];
  });
  for (const { at, kind, text } of known)
    recording.steps.push({
      after: at - FAKE_START,
      kind: 'event',
      event: 'noted',
      text,
      noted: { at, kind },
    });
  recording.steps.sort((one, other) => one.after - other.after);
  recording.steps.push(
    // Reported again: it is one.
    {
      after: 80,
      kind: 'event',
      event: 'noted',
      text: PAST[2]?.text as string,
      noted: { at: FAKE_START + 40.5, kind: 'health' },
    },
    {
      after: 80,
      kind: 'event',
      event: 'noted',
      text: 'hit rate fell from 91 % to 42 % (last 10 s)',
      noted: { at: FAKE_START + 78, kind: 'hit-rate' },
    },
  );
  stage = new Stage({ recording, columns, rows });
  await stage.play(80);
  return stage;
}

it('lists what the daemon knows of before and what it reports, each once, at its time', async () => {
  const s = await open();
  await s.keys('$');
  const screen = await s.screen();
  expect(screen).toContain('4 since 11-19 23:23:20, marked on the charts');
  expect(
    screen
      .split('\n')
      .slice(4, 8)
      .map((line) => line.trim().replace(/ {2,}/g, '  ')),
  ).toEqual([
    '00:24:38  2s % hit-rate  hit rate fell from 91 % to 42 % (last 10 s)',
    '00:24:00  39s H health  boot.images went sick: HTTP/1.1 503 Oops',
    '00:23:40  1m00s S parameter default_ttl 60.000 (was 120.000)',
    '11-19  1d01h P program  using old',
  ]);
});

it('marks them on the charts, at their times', async () => {
  const s = await open();
  const axes =
    (await s.screen()).split('\n').find((line) => line.includes('0 ╰') || line.includes('0 └')) ?? '';
  const charts = axes.split(/[╰└]/).slice(1);
  expect(charts).toHaveLength(2);
  for (const chart of charts) {
    const plot = chart.replace(/[ │].*$/, '');
    // Two minutes: the parameter at the half, the backend at two thirds, the hit rate now.
    expect(plot).toMatch(/^─+S─+H─+%─*$/);
    expect(plot.indexOf('S') / plot.length).toBeCloseTo(0.5, 1);
    expect(plot.indexOf('H') / plot.length).toBeCloseTo(0.67, 1);
  }
});

it.each([
  ['hit-rate', 'Why misses'],
  ['health', 'Backends'],
  ['parameter', 'Parameters'],
  ['program', 'Programs'],
])('Enter on an event of %s opens %s', async (kind, title) => {
  const s = await open();
  await s.keys('$', '/');
  await s.type(kind);
  await s.keys('enter', 'enter');
  expect(s.c.view.title).toBe(title);
});

it('Enter on an event opens its list at the row that it names, and clears a filter that hides it', async () => {
  const s = await open();
  await s.keys('4', '/');
  await s.type('shop');
  await s.keys('enter', '$', '/');
  await s.type('health');
  await s.keys('enter', 'enter');
  await s.settle();
  expect(s.c.view.spokenRow(s.c)).toMatch(/^boot\.images, /);
});

it('a name that an event has and the list has no more is reported', async () => {
  const s = await open();
  await s.keys('$', '/');
  await s.type('program');
  await s.keys('enter', 'enter');
  await s.settle();
  expect(await s.screen()).toContain('no longer in this list: using old');
});

it.each([
  ['vcl.load new /etc/new.vcl', 'new'],
  ['using newer', undefined],
  ['edge: using boot', 'edge:boot'],
  ['boot.a went sick: HTTP/1.1 503', undefined],
])('the event "%s" names %s', (text, key) => {
  const rows = ['new', 'edge:boot', 'boot.ab'].map((name) => ({
    key: name,
    facts: { name },
    cells: [],
    detail: () => [],
  }));
  expect(namedIn(text, rows)?.key).toBe(key);
});

it('fits at sixty columns, without a cut word', async () => {
  const ban = 'ban req.http.host == shop.example && req.url ~ ^/articles/';
  const text = 'boot.images went sick: HTTP/1.1 503 Unavailable';
  const s = await open(60, 20, [
    { time: FAKE_START + 60, kind: 'ban', text: ban },
    { time: FAKE_START + 61, kind: 'health', text },
  ]);
  await s.keys('$');
  const screen = await s.screen();
  expect(screen).toMatch(/00:24:21 +H health +boot\.images went sick: HTTP\/1\.1 503…$/m);
  expect(screen).toMatch(/00:24:20 +B ban +req\.url ~ \^\/articles\/ on shop\.example$/m);
  expect(screen).toMatch(/^ Events {2}6 since 11-19 23:23:20, marked on the charts +6$/m);
});

it('stand in "What changed" once where they say the same, with how often and when', async () => {
  const ban = (after: number) => ({
    time: FAKE_START + after,
    kind: 'ban',
    text: 'ban req.url ~ ^/articles/',
  });
  const drop = {
    time: FAKE_START + 50,
    kind: 'hit-rate',
    text: 'hit rate fell from 80 % to 40 % (last 10 s)',
  };
  const s = await open(110, 32, [ban(45), ban(55), ban(65), drop]);
  await s.keys('%');
  const rows = (await s.screen()).split('\n').filter((row) => /^ . (ban|hit-rate) /.test(row));
  expect(rows.map((row) => row.trim().replace(/ {2,}/g, '  '))).toEqual([
    '% hit-rate  the newest: hit rate fell from 91 % to 42 % (last 10 s)  2 times 00:24:38',
    'B ban  req.url ~ ^/articles/  3 times 00:24:25',
  ]);
  await s.keys('down');
  expect(await s.screen()).toContain('3 times: 00:24:25, 00:24:15, 00:24:05');
});

it('of a thread that is held up again and again are one row, and crowd nothing out', async () => {
  const turns = [50, 51, 52].map((after, i) => ({
    time: FAKE_START + after,
    kind: 'turn',
    text: `thread 0 was held up for ${[300, 812, 251][i]} ms: ${['ban.list', 'GET /a', 'GET /b'][i]}`,
  }));
  // Another thread in between does not unfold them.
  const other = { time: FAKE_START + 51.5, kind: 'turn', text: 'manager was held up for 280 ms: ban.list' };
  const s = await open(210, 50, [...turns, other]);
  const folded = 'thread 0 was held up for up to 812 ms: GET /a';
  // Both the last errors and the last events.
  const dashboard = await s.screen();
  expect(dashboard.match(/held up/g)).toHaveLength(4);
  expect(dashboard).toContain(`00:24:12  3x turn: ${folded}`);
  expect(dashboard).toMatch(/00:24:12 +L turn +3x thread 0 was held up…/);
  for (const [key, row] of [
    ['%', `L turn +${folded} .* 3 times +00:24:12`],
    ['$', `00:24:12 .* L turn +3x ${folded}`],
  ] as const) {
    await s.keys(key);
    const screen = await s.screen();
    expect(screen).toMatch(new RegExp(row));
    expect(screen.split('\n').filter((line) => / L turn /.test(line))).toHaveLength(2);
  }
  await s.keys('down');
  expect(await s.screen()).toContain('3 times: 00:24:12, 00:24:11, 00:24:10');
  expect(await s.screen()).toContain('8 since');
});
