// Several instances, two as one, recording and winding through a recording; all on recorded sources.
import { describe, expect, it } from 'vitest';
import { Instances } from '../../../console/model/instances.ts';
import { MergedSource } from '../../../console/model/merged-source.ts';
import { RecordingSource } from '../../../console/model/recorder.ts';
import type { Recording } from '../../../console/model/recording.ts';
import { ReplayPlayer } from '../../../console/model/replay-player.ts';
import { ReplaySource } from '../../../console/model/replay-source.ts';
import { Session } from '../../../console/model/session.ts';
import type { Source } from '../../../console/model/source.ts';
import { FAKE_START, fakeRecording } from '../fake-recording.ts';

const recording = fakeRecording(60);
const matcher = (): (() => boolean) => () => true;

function replay(of: Recording = recording): ReplaySource {
  return new ReplaySource({ recording: of, matcher });
}

function session(source: Source, now: () => number = () => FAKE_START): Session {
  return new Session({ source, now, later: (fn) => fn() });
}

describe('instances', () => {
  it('go on in the background, and come back with their history', () => {
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

describe('two as one', () => {
  it('sum counters, mix logs, join answers, and are stale when one is', async () => {
    const a = replay();
    const b = replay({
      ...recording,
      steps: [...recording.steps.filter((s) => s.after < 20), { after: 20, kind: 'down', reason: 'gone' }],
    });
    const merged = new MergedSource({ name: 'a', source: a }, { name: 'b', source: b });
    const shown = session(merged);
    shown.start();
    shown.follow('', 'request');
    a.advance(0);
    b.advance(0);
    expect(shown.connection).toMatchObject({ state: 'up', identity: 'a+b', version: '0.1' });
    a.advance(10);
    b.advance(10);
    const alone = session(replay());
    const one = alone.source as ReplaySource;
    alone.start();
    one.advance(10);
    expect(shown.counters.value('MAIN.client_req')).toBe(2n * alone.counters.value('MAIN.client_req'));
    expect(shown.counters.value('MAIN.uptime')).toBe(alone.counters.value('MAIN.uptime'));
    expect(shown.log.received).toBe(66);
    expect((await merged.command('vcl.list')).body).toBe(
      'a: active   auto/warm          0 boot\nb: active   auto/warm          0 boot',
    );
    expect(JSON.parse((await merged.command('backend.list -j')).body)).toHaveLength(4);
    expect((await merged.command('nonsense')).status).toBe(101);
    b.advance(21);
    expect(shown.connection).toMatchObject({ state: 'waiting', reason: 'b: gone' });
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
    played.follow('', 'request');
    (played.source as ReplaySource).advance(100);
    for (const name of ['MAIN.client_req', 'MAIN.cache_hit', 'MGT.uptime'])
      expect(played.counters.value(name), name).toBe(live.counters.value(name));
    expect(played.log.received).toBe(45);
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
    instances.current.follow('q', 'session');
    player.seek(40);
    const requests = instances.current.counters.value('MAIN.client_req');
    expect([player.at, instances.current.log.received]).toEqual([40, 123]);
    player.skip(-30);
    expect(player.at).toBe(10);
    expect(instances.current.counters.value('MAIN.client_req')).toBeLessThan(requests);
    expect([instances.current.query, instances.current.grouping]).toEqual(['q', 'session']);
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
