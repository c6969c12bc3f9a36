import { afterEach, describe, expect, it } from 'vitest';
import { plain } from '../../../console/draw/spans.ts';
import { makeTheme } from '../../../console/draw/theme.ts';
import type { ReplayControl } from '../../../console/model/session/instances.ts';
import type { RecordedStep, Recording } from '../../../console/model/session/recording.ts';
import { healthStrip, spokenHealth } from '../../../console/tui/components/health-strip.tsx';
import { backendRows } from '../../../console/views/dashboard/dashboard-rows.ts';
import { WORKER_STATES } from '../../../protocol/tables/counters.ts';
import { fakeRecording } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

const stages: Stage[] = [];
afterEach(() => {
  for (const stage of stages.splice(0)) stage.close();
});

/** A daemon that says this of itself from the tenth second on. */
function reported(changes: Record<string, number>, threads = 1): Recording {
  const recording = fakeRecording(30, threads);
  const names = recording.steps.find((s) => s.kind === 'counters')?.info.map((i) => i.name) ?? [];
  const at = Object.entries(changes).map(([name, value]): [number, string] => [
    names.indexOf(name),
    String(value),
  ]);
  const steps = recording.steps.map(
    (s): RecordedStep =>
      s.kind === 'values' && s.after >= 10
        ? { ...s, changed: [...s.changed.filter(([i]) => !at.some(([j]) => i === j)), ...at] }
        : s,
  );
  return { ...recording, steps };
}

async function strip(recording: Recording, width: number, until = 12): Promise<string> {
  const stage = new Stage({ recording, columns: Math.max(60, width), rows: 20 });
  stages.push(stage);
  await stage.play(until);
  return plain(healthStrip(stage.c, width, makeTheme('none', false), true).row).trimEnd();
}

const state = (name: (typeof WORKER_STATES)[number]): Record<string, number> => ({
  'MGT.worker_state': WORKER_STATES.indexOf(name),
  'MGT.worker_since': 7,
});

describe('the strip of the daemon’s health', () => {
  it('has all figures where there is room, and drops the last of them first', async () => {
    const recording = reported({ 'WRK.loop_lag_us': 1250 });
    expect(await strip(recording, 120)).toBe(
      ' ● running 2h00m   0 restarts   loop 1.3ms   worker 18% 88.05M   manager 1% 61.01M   no log lost',
    );
    expect(await strip(recording, 60)).toBe(' ● running 2h00m   0 restarts   loop 1.3ms');
    expect(await strip(recording, 62)).toBe(' ● running 2h00m   0 restarts   loop 1.3ms   worker 18% 88.05M');
  });

  it('speaks of missing data only while there is none: counters of the past are on screen before those of now', async () => {
    const recording = fakeRecording(30);
    const past = { ...recording, steps: recording.steps.filter((s) => s.kind !== 'values') };
    const stage = new Stage({ recording: past, columns: 120, rows: 34 });
    stages.push(stage);
    await stage.play(2);
    const shown = (): string => plain(healthStrip(stage.c, 120, makeTheme('none', false), true).row);
    expect(shown()).toContain('connected, no data yet');
    expect(shown()).not.toMatch(/restart|lost/);
    const { counters } = stage.session;
    counters.update(
      stage.session.now() - 1,
      counters.names.map(() => 1n),
    );
    expect(shown()).toContain('connected, no current values yet');
    // Nor are figures of the past shown as those of now.
    expect(shown()).not.toMatch(/worker|manager/);
  });

  it('is not contradicted below: without a worker there are no healthy backends, no objects and no bans', async () => {
    const nobody = {
      status: 101,
      body: 'Unknown request in manager process (child not running).\nType help.',
    };
    const recording = reported(state('stopped'), 2);
    const commands = Object.fromEntries(
      ['backend.list -j', 'backend.list -j -p', 'ban.list -j'].map((line) => [line, nobody]),
    );
    const stage = new Stage({
      recording: { ...recording, commands: { ...recording.commands, ...commands } },
      columns: 120,
      rows: 34,
    });
    stages.push(stage);
    await stage.play(20);
    const shown = async (key: string): Promise<string> => {
      await stage.keys(key);
      await stage.play(stage.session.now() - recording.start + 2);
      return await stage.screen();
    };
    const dashboard = await shown('1');
    expect(dashboard).toMatch(/Backends[^\n]*\n[^\n]*│ no worker /);
    expect(dashboard).toContain('no worker, no cache');
    expect(dashboard).not.toMatch(/healthy|objects|no backends| conn |Unknown request/);
    const backends = await shown('4');
    expect(backends).toContain('no worker');
    expect(backends).not.toContain('none sick');
    expect(await shown('7')).not.toContain('0 bans');
    expect(await shown('8')).toContain('no worker: the cache is lost');
    expect(await shown('3')).toContain('Uptime child: none');
  });

  it('a recording shows the backends that it has, and says what is no part of it', async () => {
    const recording = fakeRecording(30);
    const { 'backend.list -j': backends } = recording.commands;
    const commands = { 'backend.list -j': backends as { status: number; body: string } };
    const stage = new Stage({ recording: { ...recording, commands }, columns: 110, rows: 30 });
    stages.push(stage);
    await stage.play(12);
    await stage.keys('4');
    await stage.play(15);
    expect(await stage.screen()).toMatch(/boot\.shop +.*healthy/);
    await stage.keys('7');
    await stage.play(18);
    expect(await stage.screen()).toContain('not known: Not part of this recording, no tags seen yet');
  });

  it.each([
    ['stopped', 'worker stopped'],
    ['no program', 'no program, no worker'],
    ['dead', 'worker dead'],
    ['dead, to be replaced', 'worker dead, to be replaced'],
    ['starting', 'worker starting'],
  ] as const)('says since when the worker is %s, and shows no figures of it', async (name, words) => {
    const text = await strip(reported({ ...state(name), 'WRK.cpu': 700 }), 120);
    expect(text).toMatch(new RegExp(`^ ▲ ${words} since \\d\\d:\\d\\d:\\d\\d \\(7s\\) `));
    expect(text).not.toMatch(/loop|worker \d|running/);
    expect(text).toContain('manager');
    expect(await strip(reported(state(name)), 60)).toContain(words);
  });

  it('keeps the time of a change where its age, in whole seconds, wavers by one', async () => {
    const recording = reported(state('stopped'));
    const stage = new Stage({ recording, columns: 120, rows: 34 });
    stages.push(stage);
    await stage.play(12);
    const { counters } = stage.session;
    const since = (at: number, age: bigint): string => {
      const names = counters.names;
      counters.update(
        at,
        names.map((name) => (name === 'MGT.worker_since' ? age : (counters.get(name)?.current ?? 0n))),
      );
      stage.session.valuesAt = at;
      return (
        /since (\S+)/.exec(plain(healthStrip(stage.c, 120, makeTheme('none', false), true).row))?.[1] ?? ''
      );
    };
    const at = Math.floor(stage.session.now()) + 0.5;
    const first = since(at, 20n);
    expect(since(at + 1, 20n)).toBe(first);
    expect(since(at + 1.6, 21n)).toBe(first);
    // Another stop.
    expect(since(at + 10, 2n)).not.toBe(first);
  });

  it('shows a worker as running that serves before its manager knows, not one whose counters are old', async () => {
    const serving = { ...state('starting'), 'MAIN.uptime': 5, 'MAIN.client_req': 9 };
    expect(await strip(reported(serving), 120)).toMatch(/running 7s/);
    expect(await strip(reported({ ...serving, 'MAIN.uptime': 7200 }), 120)).toContain('worker starting');
    expect(await strip(reported({ ...serving, 'MAIN.client_req': 0 }), 120)).toContain('worker starting');
  });

  it('reports since when the worker is silent', async () => {
    expect(await strip(reported({ 'MGT.worker_silent': 9 }), 100)).toMatch(
      /^ ▲ worker silent since \d\d:\d\d:\d\d \(9s\)/,
    );
  });

  it('reports which threads are silent where others are not, and does not claim it of the worker', async () => {
    const silent = { 'MGT.worker_silent': 9, 'THR.2.silent': 9, 'WRK.loop_lag_us': 1250 };
    expect(await strip(reported(silent, 4), 100)).toMatch(
      /^ ▲ thread 2 silent since \d\d:\d\d:\d\d \(9s\) {3}0 restarts {3}loop 9\.00s {3}worker 18%/,
    );
    expect(await strip(reported({ ...silent, 'THR.3.silent': 5 }, 4), 100)).toMatch(
      /^ ▲ 2 threads silent since/,
    );
    // The first thread stood still later, and says no more how long the other has been silent.
    expect(await strip(reported({ ...silent, 'MGT.worker_silent': 30 }, 4), 100)).toMatch(
      /^ ▲ worker silent/,
    );
    const stage = new Stage({ recording: reported(silent, 4), columns: 60, rows: 20 });
    stages.push(stage);
    await stage.play(12);
    expect(spokenHealth(stage.c)).toMatch(/^Thread 2 silent since \d\d:\d\d:\d\d$/);
  });

  it('reports since when the daemon is silent, though the connection stands', async () => {
    const recording = fakeRecording(10);
    expect(await strip(recording, 60, 14)).toContain('running');
    expect(await strip(recording, 100, 22)).toMatch(/^ ▲ daemon silent since \d\d:\d\d:\d\d \(12s\)/);
  });

  it('dims what a silent daemon reported, as that of a lost one', async () => {
    const styled = async (until: number): Promise<string> => {
      const theme = makeTheme('256', false);
      const stage = new Stage({ recording: fakeRecording(10), columns: 110, rows: 40, theme });
      stages.push(stage);
      await stage.play(until);
      const row = backendRows(stage.c.session, 60, theme).flat();
      expect(stage.c.session.isOld).toBe(until > 15);
      return row.find(({ text }) => text.includes('healthy'))?.style ?? '';
    };
    expect(await styled(12)).toBe('good');
    expect(await styled(22)).toBe('muted');
  });

  it('takes nothing for granted from a daemon that does not say how its worker is', async () => {
    const recording = fakeRecording(20);
    const steps = recording.steps.map((s) =>
      s.kind === 'counters'
        ? { ...s, info: s.info.map((i) => (i.name === 'MGT.worker_state' ? { ...i, name: 'MGT.other' } : i)) }
        : s,
    );
    expect(await strip({ ...recording, steps }, 100)).toContain('▲ connected, worker unknown');
  });

  it.each([
    [
      'running',
      (name: string) => !/worker_|^WRK|^THR|cpu$/.test(name),
      ' ● running 2h00m   0 restarts   no log lost',
    ],
    [
      'stopped',
      (name: string) => /^MGT/.test(name) && !/worker_|cpu$/.test(name),
      ' ▲ worker stopped   0 restarts   no log lost',
    ],
  ])('knows of a Varnish what its counters say: %s', async (_state, counts, text) => {
    const recording = fakeRecording(20);
    const steps = recording.steps.map((s) =>
      s.kind === 'counters'
        ? { ...s, info: s.info.map((i) => (counts(i.name) ? i : { ...i, name: `x.${i.name}` })) }
        : s,
    );
    const stage = new Stage({ recording: { ...recording, steps }, columns: 120, rows: 20 });
    stages.push(stage);
    Object.assign(stage.c.session.source, { product: 'Varnish' });
    await stage.play(12);
    expect(plain(healthStrip(stage.c, 120, makeTheme('none', false), true).row).trimEnd()).toBe(text);
  });

  it('has the worst delay of all threads', async () => {
    expect(await strip(reported({ 'WRK.loop_lag_us': 900, 'THR.0.loop_lag_us': 100 }), 100)).toContain(
      'loop 900µs',
    );
  });

  it('warns of restarts', async () => {
    expect(await strip(reported({ 'MGT.child_start': 3, 'MGT.child_died': 2 }), 100)).toContain('2 restarts');
  });

  it('shows the position of a recording, and nothing about the present', async () => {
    const stage = new Stage({ recording: fakeRecording(30), columns: 60, rows: 20 });
    stages.push(stage);
    await stage.play(12);
    const replay: ReplayControl = {
      at: 12,
      length: 3725,
      paused: false,
      speed: 1,
      skip: () => undefined,
      seek: () => undefined,
      toggle: () => undefined,
      shift: () => undefined,
    };
    const show = (change: Partial<ReplayControl>): string => {
      stage.c.instances.replay = { ...replay, ...change };
      return plain(healthStrip(stage.c, 60, makeTheme('none', false), true).row);
    };
    expect(show({})).toBe(' REPLAY 0:12 of 1:02:05   playing   1×');
    expect(show({ paused: true, speed: 10 })).toBe(' REPLAY 0:12 of 1:02:05   paused   10×');
    expect(show({ at: 3725 })).toBe(' REPLAY 1:02:05 of 1:02:05   end   1×');
    expect(await stage.screen()).not.toContain('live');
    expect(spokenHealth(stage.c)).toBe('A recording');
  });

  it('speaks a state without its seconds, which would be repeated', async () => {
    const stage = new Stage({ recording: reported(state('stopped')), columns: 60, rows: 20 });
    stages.push(stage);
    await stage.play(12);
    expect(spokenHealth(stage.c)).toMatch(/^Worker stopped since \d\d:\d\d:\d\d$/);
  });
});
