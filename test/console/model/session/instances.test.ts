// Several instances, two as one and changes of one of them, recording and winding through a recording; all on recorded
// sources.

import { describe, expect, it } from 'vitest';
import type { Source, SourceEvents, Subscription } from '../../../../console/client/source.ts';
import { answerItems } from '../../../../console/model/session/admin-store.ts';
import { readHealth } from '../../../../console/model/session/daemon-health.ts';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { Instances } from '../../../../console/model/session/instances.ts';
import { MergedSource } from '../../../../console/model/session/merged-source.ts';
import { RecordingSource } from '../../../../console/model/session/recorder.ts';
import type { Recording } from '../../../../console/model/session/recording.ts';
import { ReplayPlayer } from '../../../../console/model/session/replay-player.ts';
import { ReplaySource } from '../../../../console/model/session/replay-source.ts';
import { pressKey } from '../../../../console/model/ui/keyboard.ts';
import { switchInstance } from '../../../../console/model/ui/navigation.ts';
import type { ViewContext } from '../../../../console/model/ui/view.ts';
import { ProgramFlow } from '../../../../console/views/programs/program-flow.ts';
import { VIEWS } from '../../../../console/views/views.ts';
import type { CommandReply, CounterInfo } from '../../../../protocol/messages.ts';
import { COMMANDS } from '../../../../protocol/tables/commands.ts';
import { PARAMS } from '../../../../protocol/tables/params.ts';
import { FAKE_START, fakeRecording } from '../../fake-recording.ts';
import { testContext } from '../../stage.ts';

const recording = fakeRecording(60);
const matcher = (): (() => boolean) => () => true;

function replay(of: Recording = recording): ReplaySource {
  return new ReplaySource({ recording: of, matcher });
}

function session(source: Source, now: () => number = () => FAKE_START): DaemonSession {
  return new DaemonSession({ source, now, later: (fn) => fn() });
}

describe('instances', () => {
  it('continue in the background, and come back with their history', () => {
    const sources = { a: replay(), b: replay() };
    const instances = new Instances(
      { name: 'a', open: () => sources.a },
      [{ name: 'b', open: () => sources.b }],
      (source) => session(source),
    );
    instances.current.start();
    sources.a.advance(5);
    const a = instances.current;
    expect(instances.switchTo('b')).toBeNull();
    expect(instances.current.everUp).toBe(false);
    sources.a.advance(10);
    sources.b.advance(3);
    expect(instances.current.counters.samples).toBe(4);
    expect(instances.switchTo('a')).toBeNull();
    expect(instances.current).toBe(a);
    expect(a.counters.samples).toBe(11);
    expect(instances.switchTo('c')).toBe('no instance "c"; known are a, b');
  });
});

describe('the list of events of a recording', () => {
  it('has nothing yet of what came after the moment that is played', async () => {
    const event = (after: number): object => ({
      time: FAKE_START + after,
      kind: 'ban',
      text: `ban ${after}`,
    });
    const body = JSON.stringify([2, ['event.list', '-j'], FAKE_START + 60, event(2), event(30)]);
    const commands = { ...recording.commands, 'event.list -j': { status: 200, body } };
    const source = replay({ ...recording, commands });
    const reported = session(source);
    reported.start();
    source.advance(5);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reported.events.all().flatMap(({ kind, text }) => (kind === 'ban' ? [text] : []))).toEqual([
      'ban 2',
    ]);
  });
});

describe('two as one', () => {
  it('are as well as the worse of two Varnishes, which do not say how their children do', () => {
    const names = (all: string[]): CounterInfo[] =>
      all.map((name) => ({ name, flag: 'c', format: 'd', level: 'info', description: '' }));
    const arrived: SourceEvents[] = [];
    const varnish = (commands: string[]): Source => ({
      ...replay(),
      label: 'v',
      product: 'Varnish',
      commands: new Set(commands),
      start: (events) => void arrived.push(events),
      setInterval: () => undefined,
      sampleNow: () => undefined,
      command: async () => ({ status: 0, body: '' }),
      log: () => ({ close: () => undefined }),
      close: () => undefined,
    });
    const a = varnish(['ping', 'ban.list']);
    const merged = new MergedSource({ name: 'a', source: a }, { name: 'b', source: varnish(['ping']) });
    let clock = FAKE_START;
    const both = session(merged, () => clock);
    both.start();
    const tell = (uptimes: (bigint | null)[]): void => {
      for (const [i, uptime] of uptimes.entries()) {
        const events = arrived[i] as SourceEvents;
        events.connection({ state: 'up', identity: 'v', version: 'varnish-7.1.1' });
        events.counters(names(['MGT.child_start', ...(uptime === null ? [] : ['MAIN.uptime'])]));
        events.values(clock, [1n, ...(uptime === null ? [] : [uptime])]);
      }
    };
    tell([50n, 20n]);
    expect([merged.product, [...(merged.commands ?? [])]]).toEqual(['Varnish', ['ping']]);
    expect(readHealth(both)).toMatchObject({ state: 'running', since: clock - 50, restarts: 0 });
    clock += 2;
    tell([52n, null]);
    clock += 3;
    tell([55n, null]);
    expect(readHealth(both)).toMatchObject({ state: 'stopped', since: clock - 3 });
    clock += 1;
    tell([56n, 1n]);
    expect(readHealth(both)).toMatchObject({ state: 'running' });
  });

  it('are as well as the one that does worse', () => {
    const reported = (changes: Record<string, string>): ReplaySource => {
      const names = recording.steps.find((s) => s.kind === 'counters')?.info.map((i) => i.name) ?? [];
      const changed = Object.entries(changes).map(([name, v]): [number, string] => [names.indexOf(name), v]);
      return replay({
        ...recording,
        steps: [...recording.steps.slice(0, 3), { after: 1, kind: 'values', changed }],
      });
    };
    const a = reported({ 'WRK.loop_lag_us': '3000', 'MGT.worker_since': '20' });
    const b = reported({ 'WRK.loop_lag_us': '9000', 'MGT.worker_since': '50', 'MGT.worker_state': '3' });
    const shown = session(new MergedSource({ name: 'a', source: a }, { name: 'b', source: b }));
    shown.start();
    for (const second of [0, 1]) {
      a.advance(second);
      b.advance(second);
    }
    expect(shown.counters.value('WRK.loop_lag_us')).toBe(9000n);
    expect(readHealth(shown)).toMatchObject({ state: 'stopped', since: FAKE_START - 50 });
  });

  it('sum counters, mix logs, join answers, and are stale when one is', async () => {
    const a = replay();
    const b = replay({
      ...recording,
      steps: [...recording.steps.filter((s) => s.after < 20), { after: 20, kind: 'down', reason: 'gone' }],
    });
    const merged = new MergedSource({ name: 'a', source: a }, { name: 'b', source: b });
    const shown = session(merged);
    shown.start();
    shown.log.follow('', 'request');
    a.advance(0);
    b.advance(0);
    expect(shown.connection).toMatchObject({ state: 'up', identity: 'a+b', version: '0.1' });
    for (let s = 1; s <= 10; s++) {
      a.advance(s);
      b.advance(s);
    }
    const alone = session(replay());
    const one = alone.source as ReplaySource;
    alone.start();
    one.advance(10);
    expect(shown.counters.value('MAIN.client_req')).toBe(2n * alone.counters.value('MAIN.client_req'));
    expect(shown.counters.value('MAIN.uptime')).toBe(alone.counters.value('MAIN.uptime'));
    expect(shown.log.kept.received).toBe(66);
    expect((await merged.command('vcl.list')).body).toBe(
      'a: active   auto/warm          0 boot\nb: active   auto/warm          0 boot',
    );
    expect(JSON.parse((await merged.command('backend.list -j')).body)).toHaveLength(4);
    expect((await merged.command('nonsense')).status).toBe(101);
    b.advance(21);
    expect(shown.connection).toMatchObject({ state: 'waiting', reason: 'b: gone' });
  });
});

/** A minimal daemon: replies from a table, records commands, and sends counters when the test triggers it. */
class Scripted implements Source {
  readonly label = 'scripted';
  readonly lines: string[] = [];
  tell: SourceEvents | null = null;
  private readonly answers: Record<string, unknown[]>;

  constructor(answers: Record<string, unknown[]> = {}) {
    this.answers = answers;
  }

  start(events: SourceEvents): void {
    this.tell = events;
    events.connection({ state: 'up', identity: 'x', version: '1' });
  }

  command(line: string): Promise<CommandReply> {
    // Asked of each that is connected.
    if (!['event.list -j', 'param.show -j vsl_reclen'].includes(line)) this.lines.push(line);
    const items = this.answers[line];
    return Promise.resolve({
      status: 200,
      body: items === undefined ? '' : JSON.stringify([2, [], 0, ...items]),
    });
  }

  log = (): Subscription => ({ close: () => undefined });
  setInterval(): void {}
  sampleNow(): void {}
  close(): void {}
}

describe('changes where two are shown as one', () => {
  const programs = (active: string): Record<string, unknown[]> => ({
    'vcl.list -j': [
      { name: 'boot', status: active === 'boot' ? 'active' : 'available' },
      { name: 'good', status: active === 'good' ? 'active' : 'available' },
    ],
    'param.show -j': [{ name: 'default_ttl', value: 120, default: '120.000' }],
    'param.show -j default_ttl': [{ name: 'default_ttl', value: 7, default: '120.000' }],
    'backend.list -j': [{ 'boot.default': { admin_health: 'probe' } }],
  });

  function stage(): { a: Scripted; b: Scripted; c: ViewContext; settle(): Promise<void> } {
    const a = new Scripted(programs('boot'));
    const b = new Scripted(programs('good'));
    const merged = new MergedSource({ name: 'a', source: a }, { name: 'b', source: b });
    const instances = new Instances({ name: 'a+b', open: () => merged }, [], (source) => session(source));
    instances.current.start();
    const c = testContext({ views: VIEWS, instances, tables: { commands: COMMANDS, params: PARAMS } });
    return { a, b, c, settle: () => new Promise((resolve) => setTimeout(resolve)) };
  }

  it('are shown apart, by the names of both', async () => {
    const { c } = stage();
    const names = async (line: string): Promise<unknown[]> => {
      const items = answerItems((await c.session.source.command(line)).body);
      return items.flatMap((i) => (i as { name?: string }).name ?? Object.keys(i as object));
    };
    expect(await names('vcl.list -j')).toEqual(['a:boot', 'a:good', 'b:boot', 'b:good']);
    expect(await names('param.show -j')).toEqual(['a:default_ttl', 'b:default_ttl']);
    expect(await names('backend.list -j')).toEqual(['a:boot.default', 'b:boot.default']);
  });

  it('go to the one that a row belongs to, and are taken back there', async () => {
    const { a, b, c, settle } = stage();
    c.operator.submit('param.set b:default_ttl 44');
    await settle();
    expect(a.lines).toEqual([]);
    expect(b.lines).toEqual(['param.show -j default_ttl', 'param.set default_ttl 44']);
    c.operator.undo();
    expect(c.ui.state.confirm).toMatchObject({ line: 'param.set default_ttl 7', part: 'b' });
    c.operator.answer(true);
    await settle();
    expect([a.lines.length, b.lines.at(-1)]).toEqual([0, 'param.set default_ttl 7']);
    await c.session.admin.ask('vcl.list -j');
    await new ProgramFlow(c).use('b:boot');
    expect(c.ui.state.confirm?.text).toBe('b: use boot instead of good (its changes cannot be shown)?');
  });

  it('are asked for where a line names neither', async () => {
    const { a, b, c, settle } = stage();
    const press = (name: string) => pressKey(c, { name, text: '' });
    c.operator.submit('ban obj.http.x ~ "a:b"');
    const { panel } = c.ui.state;
    expect(panel?.kind === 'choices' ? panel.choices.map((one) => one.label) : panel).toEqual([
      'a',
      'b',
      'both',
    ]);
    press('enter');
    await settle();
    expect([a.lines, b.lines]).toEqual([['ban.count obj.http.x ~ "a:b"'], []]);
    c.operator.answer(true);
    await settle();
    expect([a.lines.at(-1), b.lines]).toEqual(['ban obj.http.x ~ "a:b"', []]);
    c.operator.submit('stop');
    press('end');
    press('enter');
    c.operator.answer(true);
    await settle();
    expect([a.lines.at(-1), b.lines]).toEqual(['stop', ['stop']]);
  });

  it('are not taken back on another instance', async () => {
    const { c, settle } = stage();
    c.operator.submit('param.set a:default_ttl 44');
    await settle();
    c.instances.add({ name: 'other', open: () => new Scripted() });
    switchInstance(c, 'other');
    c.operator.undo();
    expect([c.ui.state.confirm, c.ui.state.notice?.text]).toEqual([
      null,
      '"a: param.set default_ttl 44" was done on a+b: change to it first',
    ]);
  });

  it('keep sums from shrinking when one of the two restarts', () => {
    const { a, b, c } = stage();
    const info = (name: string, format: 'i' | 'd'): CounterInfo => ({
      name,
      flag: 'c',
      format,
      level: 'info',
      description: '',
    });
    const { counters } = c.session;
    for (const one of [a, b])
      one.tell?.counters([
        info('MAIN.uptime', 'd'),
        info('MAIN.client_req', 'i'),
        info('VBE.boot.x.req', 'i'),
        info('THR.0.requests', 'i'),
      ]);
    const reported = (at: number, one: Scripted, ...values: bigint[]): void => one.tell?.values(at, values);
    reported(1, a, 50n, 1000n, 1n, 1n);
    reported(1, b, 90n, 1000n, 2n, 2n);
    reported(2, a, 51n, 1010n, 1n, 1n);
    reported(2, b, 91n, 1010n, 2n, 2n);
    expect([counters.value('MAIN.client_req'), counters.rate('MAIN.client_req')]).toEqual([2020n, 20]);
    reported(3, a, 1n, 5n, 0n, 0n);
    reported(3, b, 92n, 1020n, 3n, 3n);
    expect([counters.value('MAIN.client_req'), counters.rate('MAIN.client_req')]).toEqual([2035n, 15]);
    expect([counters.value('VBE.b:boot.x.req'), counters.value('MAIN.uptime')]).toEqual([3n, 1n]);
    expect(counters.value('THR.b:0.requests')).toBe(3n);
  });
});

describe('a recording', () => {
  it('made here plays as it went', () => {
    const source = replay();
    let at = FAKE_START;
    const recorder = new RecordingSource(source, () => at);
    const live = session(recorder);
    live.start();
    source.advance(5);
    recorder.begin();
    for (let s = 6; s <= 20; s++) {
      at = FAKE_START + s - 5;
      source.advance(s);
    }
    const made = recorder.end() as Recording;
    expect(recorder.active).toBe(false);
    const played = session(replay(JSON.parse(JSON.stringify(made)) as Recording));
    played.start();
    played.log.follow('', 'request');
    (played.source as ReplaySource).advance(100);
    for (const name of ['MAIN.client_req', 'MAIN.cache_hit', 'MGT.uptime'])
      expect(played.counters.value(name), name).toBe(live.counters.value(name));
    expect(played.log.kept.received).toBe(45);
  });

  it('has each answer at its time, and no more of it than what changed', async () => {
    const healthy = (yes: boolean): unknown => ({ 'boot.a': { probe_message: yes ? 'healthy' : 'sick' } });
    const answers: Record<string, unknown[]> = { 'backend.list -j': [healthy(true)] };
    const source = new Scripted(answers);
    let at = FAKE_START;
    const recorder = new RecordingSource(source, () => at);
    session(recorder).start();
    recorder.begin();
    const ask = async (second: number): Promise<void> => {
      at = FAKE_START + second;
      await recorder.command('backend.list -j');
    };
    await ask(1);
    answers['backend.list -j'] = [healthy(false)];
    await ask(10);
    await ask(20);
    answers['backend.list -j'] = [healthy(true)];
    await ask(30);
    const made = JSON.parse(JSON.stringify(recorder.end())) as Recording;
    expect(made.steps.filter((step) => step.kind === 'answer').map((step) => step.after)).toEqual([10, 30]);
    const played = replay(made);
    const reported = async (second: number): Promise<unknown> => {
      played.advance(second);
      return answerItems((await played.command('backend.list -j')).body)[0];
    };
    expect([await reported(0), await reported(10), await reported(29), await reported(30)]).toEqual(
      [true, false, false, true].map(healthy),
    );
  });

  it('has the answers of the place that it was wound to', async () => {
    const answer = (after: number, health: string): Recording['steps'][number] => ({
      after,
      kind: 'answer',
      line: 'backend.list -j',
      status: 200,
      body: JSON.stringify([3, [], 0, { 'boot.a': { type: 'backend', probe_message: [4, 4, health] } }]),
    });
    const steps = [...recording.steps, answer(8.5, 'sick'), answer(30.5, 'healthy'), answer(59, 'sick')];
    const player: ReplayPlayer = new ReplayPlayer({
      recording: { ...recording, steps: steps.sort((a, b) => a.after - b.after) },
      matcher,
      label: 'x',
      makeSession: (source) => session(source, () => player.now()),
    });
    const instances = new Instances({ name: 'recording', open: () => player.first }, [], (source) =>
      session(source, () => player.now()),
    );
    player.attach(instances);
    instances.current.start();
    for (const [second, health] of [
      [20, 'sick'],
      [50, 'healthy'],
      [60, 'sick'],
      [12, 'sick'],
      [55, 'healthy'],
    ] as const) {
      player.seek(second);
      await new Promise((resolve) => setImmediate(resolve));
      expect(
        instances.current.backends.map((one) => one.health),
        `at ${second} s`,
      ).toEqual([health]);
    }
  });

  it('begins with counters of the time at which they were taken, so that the first rate is none of a moment', () => {
    const source = new Scripted();
    let at = FAKE_START;
    const recorder = new RecordingSource(source, () => at);
    session(recorder).start();
    const row: CounterInfo = {
      name: 'MAIN.client_req',
      flag: 'c',
      format: 'i',
      level: 'info',
      description: '',
    };
    source.tell?.counters([row]);
    source.tell?.values(FAKE_START, [1000n]);
    at = FAKE_START + 0.95;
    recorder.begin();
    at = FAKE_START + 1.05;
    source.tell?.values(FAKE_START + 1, [1020n]);
    const played = replay(recorder.end() as Recording);
    const shown = session(played);
    shown.start();
    played.advance(1);
    expect(shown.counters.rate('MAIN.client_req')).toBeCloseTo(20);
  });

  it('is wound back and forth, with the log followed as before', () => {
    const player: ReplayPlayer = new ReplayPlayer({
      recording,
      matcher,
      label: 'x',
      makeSession: (source) => session(source, () => player.now()),
    });
    const instances = new Instances({ name: 'recording', open: () => player.first }, [], (source) =>
      session(source, () => player.now()),
    );
    player.attach(instances);
    instances.current.start();
    expect(instances.current.source).toMatchObject({ canReplay: true, recorded: true });
    instances.current.log.follow('q', 'session');
    player.seek(40);
    const requests = instances.current.counters.value('MAIN.client_req');
    expect([player.at, instances.current.log.kept.received]).toEqual([40, 123]);
    player.skip(-30);
    expect(player.at).toBe(10);
    expect(instances.current.counters.value('MAIN.client_req')).toBeLessThan(requests);
    expect([instances.current.log.query, instances.current.log.grouping]).toEqual(['q', 'session']);
    player.skip(30);
    expect(instances.current.counters.value('MAIN.client_req')).toBe(requests);
    player.toggle();
    player.tick(5);
    expect(player.at).toBe(40);
    player.toggle();
    player.tick(5);
    expect(player.at).toBe(45);
    player.seek(1e9);
    expect(player.at).toBe(60);
  });
});
