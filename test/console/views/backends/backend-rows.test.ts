// Rows of backends and directors, of an answer of the daemon and of its records of probes.

import { describe, expect, it } from 'vitest';
import { plain } from '../../../../console/draw/spans.ts';
import { makeTheme } from '../../../../console/draw/theme.ts';
import { parseBackendList } from '../../../../console/model/session/backends.ts';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { Instances } from '../../../../console/model/session/instances.ts';
import { answerWords, ProbeAnswers } from '../../../../console/model/session/probe-answers.ts';
import type { Recording } from '../../../../console/model/session/recording.ts';
import { ReplaySource } from '../../../../console/model/session/replay-source.ts';
import { BACKENDS_LINE, backendRows } from '../../../../console/views/backends/backend-rows.ts';
import { BACKENDS_VIEW } from '../../../../console/views/backends/backends-view.ts';
import { backendRows as dashboardRows } from '../../../../console/views/dashboard/dashboard-rows.ts';
import { encodeRecord } from '../../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import { Tag } from '../../../../protocol/tables/tags.ts';
import { fakeRecording } from '../../fake-recording.ts';
import { testContext } from '../../stage.ts';

const director = (type: string, healthy: number, ...members: string[]): object => ({
  type,
  admin_health: 'probe',
  probe_message: [healthy, members.length, healthy > 0 ? 'healthy' : 'sick'],
  probe_details: { backends: Object.fromEntries(members.map((m) => [m, { weight: 1, health: 'healthy' }])) },
});
const backend = (good: number, bits: Record<string, number> = {}): object => ({
  type: 'backend',
  admin_health: 'probe',
  probe_message: [good, 4, good >= 2 ? 'healthy' : 'sick'],
  probe_details: { ...bits, good, threshold: 2, window: 4 },
});

async function session(table: object, program = '', now = 0): Promise<DaemonSession> {
  const body = JSON.stringify([3, ['backend.list'], 1, table]);
  const commands = {
    [BACKENDS_LINE]: { status: 200, body },
    'vcl.show -v boot': { status: 200, body: `// VCL.SHOW 0 ${program.length} input\n${program}\n` },
  };
  const recording: Recording = { ...fakeRecording(1), commands };
  const source = new ReplaySource({ recording, matcher: () => () => true });
  const made = new DaemonSession({ source, now: () => now, later: () => undefined });
  await made.admin.ask(BACKENDS_LINE);
  return made;
}

const polls = (...texts: string[]): LogTransaction[] =>
  texts.map((text) => ({
    level: 0,
    type: 'raw',
    reason: '',
    vxid: 0,
    parent: 0,
    records: encodeRecord(Tag.Backend_health, 0, '-', text),
  }));

/** A source whose log is fed by hand. */
function answers(...transactions: LogTransaction[]): ProbeAnswers {
  const source = new ReplaySource({ recording: fakeRecording(1), matcher: () => () => true });
  source.log = (_sub, handlers) => {
    handlers.batch(transactions);
    return { close: () => undefined };
  };
  const made = new ProbeAnswers(source, () => undefined);
  made.watch();
  return made;
}

it('a backend that has become slow shows it, however many quick fetches there were before', async () => {
  const now = 1_000_000;
  const made = await session({ 'boot.a': backend(4) }, '', now);
  let vxid = 0;
  const fetched = (seconds: number, at: number): LogTransaction[] => {
    const id = ++vxid;
    const records = Buffer.concat([
      encodeRecord(Tag.Timestamp, id, 'b', `Start: ${at}.000000 0.000000 0.000000`),
      encodeRecord(Tag.BackendOpen, id, 'b', '5 a 127.0.0.1 8080 127.0.0.1 40000 connect'),
      encodeRecord(Tag.Timestamp, id, 'b', `Beresp: ${at}.000000 ${seconds} ${seconds}`),
      encodeRecord(Tag.BerespStatus, id, 'b', '200'),
    ]);
    return [{ level: 1, type: 'bereq', reason: 'fetch', vxid: id, parent: 0, records }];
  };
  for (let n = 0; n < 1000; n++) made.traffic.sample.add(fetched(0.002, now - 200), now - 200);
  for (let n = 0; n < 5; n++) made.traffic.sample.add(fetched(1.2, now - 1), now - 1);
  expect(backendRows(made)[0]?.facts).toMatchObject({ p50: '1.200000', p99: '1.200000' });
});

describe('directors', () => {
  it('stand above their members, each time one is a member', async () => {
    const rows = backendRows(
      await session({
        'boot.a': backend(4),
        'boot.b': backend(4),
        'boot.lone': backend(4),
        'boot.all': director('fallback', 2, 'half', 'a'),
        'boot.half': director('round-robin', 2, 'a', 'b'),
      }),
    );
    expect(rows.map((r) => r.cells[0]?.text)).toEqual([
      'boot.lone',
      'boot.all',
      '└ boot.half',
      '  └ boot.a',
      '  └ boot.b',
      '└ boot.a',
    ]);
    expect(new Set(rows.map((r) => r.key)).size).toBe(6);
  });

  it('have no probe: their kind stands there, and how many members are healthy', async () => {
    const [row] = backendRows(await session({ 'boot.d': director('round-robin', 1, 'a', 'b') }));
    expect(row?.cells[3]?.text).toBe('1/2');
    expect(row?.cells[4]).toEqual({ text: 'round-robin', tone: 'faint' });
    const text = row?.detail().map((line) => line.map((piece) => piece.text).join('')) ?? [];
    expect(text.slice(0, 2)).toEqual([
      'Director round-robin, 1 of 2 members healthy',
      '  a  healthy  weight 1',
    ]);
    expect(row?.detail().some((line) => line.some((piece) => piece.bits !== undefined))).toBe(false);
  });

  it('report it on the dashboard', async () => {
    const shown = await session({ 'boot.d': director('round-robin', 1, 'a', 'b') });
    shown.backends = parseBackendList(shown.admin.body(BACKENDS_LINE));
    const [row = []] = dashboardRows(shown, 60, makeTheme('none', false));
    expect(plain(row)).toMatch(/boot\.d +healthy {2}1\/2 members *$/);
  });

  it('are no good news where the connection is gone, nor where nobody knows their health', async () => {
    const shown = await session({ 'boot.a': { type: 'backend' }, 'boot.b': backend(4) });
    shown.start();
    const styles = (): string[] => {
      shown.backends = parseBackendList(shown.admin.body(BACKENDS_LINE) ?? '');
      const onDashboard = dashboardRows(shown, 80, makeTheme('none', true)).map((row) => row[0]?.style);
      return [...onDashboard, ...backendRows(shown).map((row) => row.cells[2]?.tone)].map(String);
    };
    expect(styles()).toEqual(['warn', 'good', 'warn', 'good']);
    shown.connection = { state: 'waiting', attempt: 1, retryAt: 1, reason: 'gone' };
    expect(new Set(styles())).toEqual(new Set(['muted']));
  });

  it('may be below themselves', async () => {
    const rows = backendRows(
      await session({
        'boot.x': director('fallback', 1, 'y', 'x'),
        'boot.y': director('fallback', 1, 'x'),
      }),
    );
    expect(rows.map((r) => r.cells[0]?.text)).toEqual(['boot.x', '└ boot.y']);
  });
});

describe('the last answer to a probe', () => {
  const sick = { bits: '4---X-R-', good: 0, threshold: 2, window: 4 };

  it('is the newest that left the window as the daemon lists it', () => {
    const known = answers(
      ...polls(
        'b Still sick 4---X-R- 0 2 4 0.001 0.000 "HTTP/1.1 500 Old"',
        'b Still sick 4---X-R- 0 2 4 0.002 0.000 "HTTP/1.1 503 Busy \u001b"',
        'b Still healthy 4---X-RH 4 2 4 0.003 0.003 "HTTP/1.1 200 OK"',
        'b no record of a probe',
      ),
    );
    expect(known.of('b', sick)).toMatchObject({ seconds: 0.002 });
    expect(known.of('b', sick)?.text).toMatch(/^HTTP\/1\.1 503 Busy [^\u001b]*$/);
    expect(known.of('b', { ...sick, bits: '--------' })).toBeUndefined();
    expect(known.of('other', sick)).toBeUndefined();
  });

  it('is shown in few words', async () => {
    const shown = await session({ 'boot.b': backend(0, { bits_4: 3, bits_X: 3, bits_R: 3, bits_H: 2 }) });
    const source = shown.source;
    source.log = (_sub, handlers) => {
      handlers.batch(polls('b Still sick 4---X-R- 0 2 4 0.002 0.000 "HTTP/1.1 503 Busy"'));
      return { close: () => undefined };
    };
    shown.probes.watch();
    expect(backendRows(shown)[0]?.cells[5]).toMatchObject({ text: 'HTTP 503', tone: 'bad' });
  });

  it('reports how long it waited for a response, if the program is available', async () => {
    const program = `vcl 4.1;\nbackend b { .host = "127.0.0.1"; .probe = { .timeout = 1s; } }\n`;
    const shown = await session({ 'boot.b': backend(0, { bits_4: 3, bits_X: 3 }) }, program);
    shown.source.log = (_sub, handlers) => {
      handlers.batch(
        polls('b Still sick 4---X--- 0 2 4 0.000 0.000 "Poll error 110 (Connection timed out)"'),
      );
      return { close: () => undefined };
    };
    shown.probes.watch();
    // The program is asked for when it is needed first.
    backendRows(shown);
    await new Promise(setImmediate);
    expect(backendRows(shown)[0]?.cells[5]).toMatchObject({ text: 'no answer in 1 s', tone: 'bad' });
    expect(answerWords('Open error 110 (Connection timed out)', '500ms')).toBe('no connection in 500 ms');
  });

  it.each([
    ['HTTP/1.1 503 Service Unavailable', 'HTTP 503'],
    ['Open error 111 (Connection refused)', 'connect refused'],
    ['Open error 110 (Connection timed out)', 'no connection in time'],
    ['Open error 113 (No route to host)', 'connect no route to host'],
    ['Poll error 110 (Connection timed out)', 'no answer in time'],
    ['Read error 104 (Connection reset by peer)', 'read reset by peer'],
    ['Open error TLS: certificate expired on 2026-01-02', 'TLS: certificate expired on 2026-01-02'],
    ['Empty response', 'empty response'],
    ['Unexpected close', 'unexpected close'],
    ['', ''],
  ])('%j: %s', (text, words) => {
    expect(answerWords(text)).toBe(words);
  });
});

it('no row is shown before its director is known, and the cursor follows its backend to another one', async () => {
  let table: object = { 'boot.a': backend(4), 'boot.b': backend(4), 'boot.d': director('random', 1, 'a') };
  const answer = (): { status: number; body: string } => ({
    status: 200,
    body: JSON.stringify([3, ['backend.list'], 1, table]),
  });
  const source = new ReplaySource({ recording: fakeRecording(1), matcher: () => () => true });
  source.command = () => Promise.resolve(answer());
  const c = testContext({
    views: [BACKENDS_VIEW],
    instances: new Instances(
      { name: 'one', open: () => source },
      [],
      (opened) => new DaemonSession({ source: opened, now: () => 0, later: () => undefined }),
    ),
  });
  // As the dashboard knows them, without members.
  c.session.backends = parseBackendList(answer().body);
  expect(BACKENDS_VIEW.rows(c)).toEqual([]);
  expect(BACKENDS_VIEW.definition.empty(c.session, '')).not.toBe('no backends');
  await c.session.admin.ask(BACKENDS_LINE);
  const names = (): string[] => BACKENDS_VIEW.rows(c).map((row) => row.cells[0]?.text ?? '');
  expect(names()).toEqual(['boot.b', 'boot.d', '└ boot.a']);
  BACKENDS_VIEW.act(c, { type: 'move', rows: 2 });
  table = {
    'boot.b': backend(4),
    'boot.a': backend(4),
    'boot.d': director('random', 1, 'b'),
    'boot.e': director('random', 1, 'a'),
  };
  await c.session.admin.ask(BACKENDS_LINE);
  expect(names()).toEqual(['boot.d', '└ boot.b', 'boot.e', '└ boot.a']);
  expect(BACKENDS_VIEW.selected(c)?.facts.name).toBe('boot.a');
  // A member of two directors: the cursor stays on the row that it was on.
  table = {
    'boot.a': backend(4),
    'boot.d': director('random', 1, 'a'),
    'boot.e': director('random', 1, 'a'),
  };
  await c.session.admin.ask(BACKENDS_LINE);
  BACKENDS_VIEW.act(c, { type: 'end' });
  expect(BACKENDS_VIEW.selected(c)?.key).toBe('boot.e > boot.a');
});
