// Backends that are sick for single objects, without an origin. What is logged and when was seen in Varnish; see also
// the scenarios "saintmode" and "saintmode-directors".
import { describe, expect, it } from 'vitest';
import { VclContext } from '../../../../daemon/contract/context.ts';
import { OwnState } from '../../../../daemon/contract/own-state.ts';
import { State } from '../../../../daemon/contract/program.ts';
import { compile } from '../../../../daemon/extensions/compile-with-builtins.ts';
import { findExtension } from '../../../../daemon/extensions/registry.ts';
import { Saint } from '../../../../daemon/extensions/saintmode/saint.ts';
import { SaintmodeEvents } from '../../../../daemon/extensions/saintmode/saintmode-events.ts';
import { initProgram, loadProgram } from '../../../../daemon/vcl/loader.ts';
import { FakeLog, host, load, NOW, type Task, task, taskOf } from '../../vcl/fake-task.ts';
import { backends, FakeBackend, served } from '../directors/fake-backends.ts';

/** A task that fetches the object of a key. */
function fetching(key: string): Task {
  const t = task('sub vcl_recv { }');
  t.ctx.bo = Object.assign(t.bo, { hashKey: key });
  t.ctx.req = null;
  t.ctx.state = State.backend_fetch;
  return t;
}

/** A task of a client whose object has a key. */
function asking(key: string, state = State.deliver): Task {
  const t = task('sub vcl_recv { }');
  t.ctx.req = t.req;
  t.attempt.hashKey = key;
  t.ctx.state = state;
  return t;
}

function saintOf(threshold: number): { saint: Saint; backend: FakeBackend } {
  const backend = new FakeBackend('b');
  return {
    saint: new Saint('boot', 's', backend, threshold, new SaintmodeEvents(new OwnState()), NOW),
    backend,
  };
}

const OBJECT = 'saintmode: unhealthy: object blacklisted for backend b';
const THRESHOLD = 'saintmode: unhealthy: hit threshold for backend b';

describe('a saint', () => {
  it('is sick for the object on its list alone, until its time is over', () => {
    const { saint } = saintOf(3);
    saint.blacklist('one', 5, NOW);
    const [one, two] = [fetching('one'), fetching('two')];
    expect([saint.resolve(one.ctx), saint.resolve(two.ctx)?.vclName]).toEqual([null, 'b']);
    expect([saint.healthy(NOW, one.ctx), saint.healthy(NOW, two.ctx)]).toEqual([false, true]);
    expect(one.log.of('VCL_Log')).toEqual([OBJECT, OBJECT]);
    expect(two.log.of('VCL_Log')).toEqual([]);
    one.ctx.now = NOW + 6;
    expect(saint.resolve(one.ctx)?.vclName).toBe('b');
    expect(saint.count).toBe(0);
  });

  it('is sick for all with as many entries as its threshold', () => {
    const { saint } = saintOf(2);
    saint.blacklist('one', 5, NOW);
    saint.blacklist('one', 5, NOW);
    const two = fetching('two');
    expect([saint.count, saint.isHealthy(two.ctx)]).toEqual([2, false]);
    expect(two.log.of('VCL_Log')).toEqual([THRESHOLD]);
    expect(saint.healthy(NOW)).toBe(false);
    expect(saint.listed.measured(NOW)).toBe(false);
    expect(saint.listed.measured(NOW + 6)).toBe(true);
  });

  it('heeds no list with a threshold of 0 in a fetch, and does in client states', () => {
    const { saint } = saintOf(0);
    saint.blacklist('one', 5, NOW);
    expect(saint.resolve(fetching('one').ctx)?.vclName).toBe('b');
    expect(saint.isHealthy(asking('one').ctx)).toBe(false);
  });

  it('takes a threshold below zero for more than there can be', () => {
    const { saint } = saintOf(-1);
    for (let i = 0; i < 50; i++) saint.blacklist('one', 5, NOW);
    expect(saint.healthy(NOW, fetching('two').ctx)).toBe(true);
  });

  it('is as sick as its backend, but for is_healthy() in client states', () => {
    const { saint, backend } = saintOf(2);
    backend.up = false;
    expect(saint.resolve(fetching('one').ctx)).toBeNull();
    expect([saint.isHealthy(fetching('one').ctx), saint.isHealthy(asking('one').ctx)]).toEqual([false, true]);
  });

  it('knows no object of a request before its lookup', () => {
    const { saint } = saintOf(9);
    saint.blacklist('one', 5, NOW);
    expect(saint.isHealthy(asking('one', State.recv).ctx)).toBe(true);
    expect(saint.isHealthy(asking('one', State.hash).ctx)).toBe(true);
    expect(saint.isHealthy(asking('one', State.miss).ctx)).toBe(false);
  });

  it('drops old entries where nobody asks', () => {
    const { saint } = saintOf(9);
    for (let i = 0; i < 5000; i++) saint.blacklist(`k${i}`, 1, NOW + i);
    expect(saint.count).toBeLessThan(1030);
  });
});

describe('the extension saintmode', () => {
  const PROGRAM = `vcl 4.1; import saintmode; import directors; import std;
backend b1 { .host = "127.0.0.1"; } backend b2 { .host = "127.0.0.1"; }
sub vcl_init { new s1 = saintmode.saintmode(b1, 2); new s2 = saintmode.saintmode(b2, 5);
  new d = directors.fallback(); d.add_backend(s1.backend()); d.add_backend(s2.backend()); }
sub vcl_recv { saintmode.blacklist(1s); return (synth(200)); }
sub vcl_backend_error { saintmode.blacklist(1s); }
sub vcl_synth { synthetic(saintmode.status()); return (deliver); }
sub vcl_backend_response { saintmode.blacklist(std.duration(bereq.http.bl, 20s)); set beresp.http.n = "" + s1.blacklist_count() + s2.blacklist_count() + s1.is_healthy(); }`;

  function program(text = PROGRAM) {
    const { program: compiled } = compile({ name: 'test.vcl', text });
    if (compiled === undefined) throw new Error('refused');
    const members = backends(2).map((b) => [b.vclName, b] as const);
    const loaded = loadProgram('test', compiled, new Map(members), findExtension);
    expect(initProgram(loaded, new VclContext(host, loaded, new FakeLog()))).toBeNull();
    return loaded;
  }

  it('puts the object on the list of the backend that answered, and directors choose another', () => {
    const loaded = program();
    const t = taskOf(loaded);
    Object.assign(t.bo, { hashKey: 'one', respBackend: loaded.directors.get('b1') });
    t.run('backend_response');
    expect(t.bo.beresp.get('n')).toBe('10false');
    expect(t.log.of('VCL_Log')).toEqual([
      'saintmode: object put on blacklist for backend b1 for 20.00 seconds',
      'saintmode: unhealthy: object blacklisted for backend b1',
    ]);
    const d = loaded.directors.get('d');
    if (d === undefined) throw new Error('no director');
    expect(served(d, t.ctx, 2)).toBe('b2 b2');
    Object.assign(t.bo, { hashKey: 'two' });
    expect(served(d, t.ctx, 1)).toBe('b1');
  });

  it('has the newer names of its functions, too', () => {
    const loaded = program(PROGRAM.replaceAll('blacklist', 'denylist'));
    const t = taskOf(loaded);
    Object.assign(t.bo, { hashKey: 'one', respBackend: loaded.directors.get('b1') });
    t.run('backend_response');
    expect(t.bo.beresp.get('n')).toBe('10false');
  });

  it('has lists for each program of its own', () => {
    const [a, b] = [program(), program()];
    const t = taskOf(a);
    Object.assign(t.bo, { hashKey: 'one', respBackend: a.directors.get('b1') });
    t.run('backend_response');
    const u = taskOf(b);
    u.run('synth');
    expect(JSON.parse(u.attempt.synthBody ?? '')).toEqual({
      saintmode: [
        { name: 's1', backend: 'b1', count: '0', threshold: '2' },
        { name: 's2', backend: 'b2', count: '0', threshold: '5' },
      ],
    });
  });

  it('reports where blacklist() cannot work', () => {
    const loaded = program();
    const t = taskOf(loaded);
    expect(t.run('recv')).toBe('synth');
    Object.assign(t.bo, { respBackend: new FakeBackend('other') });
    t.run('backend_response');
    t.run('backend_error');
    expect(t.log.of('VCL_Error')).toEqual([
      'saintmode.blacklist() called outside of vcl_backend_response',
      'Error: saintmode.blacklist(): Saintmode not configured for this backend.',
      'saintmode.blacklist() called outside of vcl_backend_response',
    ]);
  });

  it.each([
    ['declared so', 'saintmode.saintmode(n, 2)'],
    ['a director without one', 'saintmode.saintmode(d.backend("x"), 2)'],
  ])('refuses a backend that is none: %s', (_how, call) => {
    const loaded = load(
      `vcl 4.1; import saintmode; import directors; backend n none; sub vcl_init { new d = directors.hash(); new s = ${call}; }`,
    );
    const refusal = initProgram(loaded, new VclContext(host, loaded, new FakeLog()));
    expect(refusal).toContain('s: None backend cannot have a list of objects');
  });
});
