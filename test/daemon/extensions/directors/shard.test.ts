import { describe, expect, it } from 'vitest';
import { endPrivs } from '../../../../daemon/contract/priv.ts';
import { ShardDirector } from '../../../../daemon/extensions/directors/shard-director.ts';
import { NOW, type Task, task } from '../../vcl/fake-task.ts';
import { backends, FakeBackend } from './fake-backends.ts';

const HEAD = `vcl 4.1; import directors; import std; import blob;
backend b1 { .host = "127.0.0.1"; }
backend b2 { .host = "127.0.0.1"; }
backend b3 { .host = "127.0.0.1"; }
backend none none;
sub vcl_hash { set req.http.all = b1 + b2 + b3 + none; }
`;

function program(init: string, more = ''): Task {
  return task(`${HEAD} sub vcl_init { ${init} } ${more}`);
}

/** Runs vcl_init to the end of its task. */
function loaded(init: string, more = ''): Task & { result: string } {
  const t = program(init, more);
  const result = t.run('init');
  endPrivs(t.ctx.priv);
  return { ...t, result };
}

const D = 'new d = directors.shard();';
const P = 'new p = directors.shard_param();';

describe('vcl_init', () => {
  // Texts as 7.1.1 gives them for the same program.
  it.each([
    [`${D} d.add_backend(none);`, 'shard d: None backend cannot be added'],
    [`${D} d.remove_backend();`, 'shard d: .remove_backend(): either backend or ident are required'],
    [
      `${D} new r = directors.round_robin(); r.add_backend(d.backend(by=URL));`,
      'shard d: .backend(resolve=LAZY) with other parameters can only be used in backend/pipe context',
    ],
    [
      `${D} new r = directors.round_robin(); r.add_backend(d.backend(resolve=NOW));`,
      'shard d: .backend(resolve=NOW) can not be used in vcl_init{}/vcl_fini{}',
    ],
    [`${D} d.associate(blob.decode(HEX, encoded="00"));`, 'shard d: shard .associate param invalid'],
    [`${P} p.set(by=KEY);`, 'shard p: shard_param.set() missing key argument with by=KEY'],
    [`${P} p.set(key=1);`, 'shard p: shard_param.set() key and key_blob arguments are invalid with by=HASH'],
    [`${P} p.set(by=KEY, key=-1);`, 'shard p: shard_param.set() invalid key argument -1 with by=KEY'],
    [`${P} p.set(by=BLOB);`, 'shard p: shard_param.set() missing key_blob argument with by=BLOB'],
    [`${P} p.set(alt=-1);`, 'shard p: shard_param.set() invalid alt argument -1'],
    [`${P} p.set(warmup=2);`, 'shard p: shard_param.set() invalid warmup argument 2.000000'],
  ])('refuses %s', (init, text) => {
    const t = loaded(init);
    expect(t.result).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual([`vmod_directors: ${text}`]);
  });

  it.each([
    [`${D} d.add_backend(b1); d.add_backend(b1);`, 'Notice', 'shard d: backend b1 already exists - skipping'],
    [
      `${D} d.add_backend(b1, ident="x"); d.add_backend(b2, ident="x");`,
      'Notice',
      'shard d: backend b1/x already exists - skipping',
    ],
    [`${D} d.add_backend(b1, weight=0.5);`, 'Notice', 'shard d: .add_backend(weight=0.500000) ignored'],
    [`${D} d.set_warmup(1);`, 'Notice', 'shard d: .set_warmup(1.000000) ignored'],
    [`${D} d.clear();`, 'Error', 'shard d: .reconfigure() no backends'],
    [
      `${D} d.add_backend(b1); d.reconfigure(0);`,
      'Error',
      'shard d: .reconfigure() invalid replicas argument 0',
    ],
    [
      `${P} p.set(by=BLOB, key_blob=blob.decode(HEX, encoded=""));`,
      'Error',
      'shard p: shard_param.set() by=BLOB but no or empty key_blob - using key 0',
    ],
  ] as const)('notes %s', (init, tag, text) => {
    const t = loaded(init);
    expect(t.result).toBe('ok');
    expect(t.log.of(tag)).toEqual([`vmod_directors: ${text}`]);
  });

  it('refuses a ring that would never end', () => {
    const t = loaded(`${D} d.add_backend(b1); if (!d.reconfigure(4294967295)) { std.log("no"); }`);
    expect(t.log.of('VCL_Log')).toEqual(['no']);
    expect(t.log.of('Error')[0]).toContain('4294967295 points are more than');
  });
});

describe('parameter sets', () => {
  const show = (p: string) =>
    `${p}.get_by() + " " + ${p}.get_alt() + " " + ${p}.get_warmup() + " " + ${p}.get_rampup() + " " + ${p}.get_healthy()`;

  it('keep for the fetch what the fetch sets', () => {
    const t = loaded(
      `${P} p.set(by=URL, alt=3, healthy=ALL);`,
      `sub vcl_backend_fetch {
        set bereq.http.first = ${show('p')};
        p.set(alt=1, rampup=false);
        set bereq.http.second = ${show('p')};
        p.set(warmup=0.5);
        set bereq.http.third = ${show('p')};
        p.clear();
        set bereq.http.last = ${show('p')};
      }`,
    );
    t.ctx.bo = t.bo;
    t.run('backend_fetch');
    expect(['first', 'second', 'third', 'last'].map((n) => t.bo.bereq.get(n))).toEqual([
      'URL 3 -1.000 true ALL',
      'URL 1 -1.000 false ALL',
      'URL 3 0.500 true ALL',
      'URL 3 -1.000 true ALL',
    ]);
  });

  it('are not for client states', () => {
    const t = loaded(P, 'sub vcl_recv { p.set(alt=1); }');
    expect(t.run('recv')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual([
      'vmod_directors: shard p: shard_param.set() may only be used in vcl_init and in backend/pipe context',
    ]);
  });
});

describe('arguments kept by resolve=LAZY', () => {
  const fetched = (body: string): Task => {
    const t = loaded(
      `${D} d.add_backend(b1); d.add_backend(b2); d.add_backend(b3);`,
      `sub vcl_backend_fetch { ${body} }`,
    );
    t.ctx.bo = t.bo;
    t.run('backend_fetch');
    return t;
  };
  it('count for calls that follow, below arguments of their own', () => {
    const t = fetched(`d.backend(resolve=LAZY, by=KEY, key=5, alt=1);
      set bereq.http.kept = d.backend(); set bereq.http.key = d.backend(by=KEY, key=5, alt=1);
      set bereq.http.own = d.backend(alt=0); set bereq.http.first = d.backend(by=KEY, key=5, alt=0);`);
    const { bereq } = t.bo;
    expect(bereq.get('kept')).toBe(bereq.get('key'));
    expect(bereq.get('own')).toBe(bereq.get('first'));
    expect(bereq.get('own')).not.toBe(bereq.get('kept'));
  });
  it('give way to the next ones', () => {
    const t = fetched(`d.backend(resolve=LAZY, alt=1); d.backend(resolve=LAZY, by=KEY, key=5);
      set bereq.http.kept = d.backend(); set bereq.http.key = d.backend(by=KEY, key=5, alt=0);`);
    expect(t.bo.bereq.get('kept')).toBe(t.bo.bereq.get('key'));
  });
});

describe('changes', () => {
  it('wait for the end of the task', () => {
    const t = program(
      `${D} d.add_backend(b1);`,
      `sub vcl_recv { set req.http.n = "[" + d.backend() + "]"; d.add_backend(b2); d.remove_backend(b1);
        set req.http.m = "[" + d.backend() + "]"; return (pass); }`,
    );
    t.run('init');
    t.run('recv');
    expect(t.req.http.get('n')).toBe('[]');
    endPrivs(t.ctx.priv);
    t.run('recv');
    expect(t.req.http.get('m')).toBe('[b2]');
  });

  it('concern the replicas of new hosts only', () => {
    const [a, b] = backends(2) as [FakeBackend, FakeBackend];
    const { ctx } = task('sub vcl_recv { }');
    const shard = new ShardDirector('s', NOW);
    const add = (director: FakeBackend) =>
      shard.change(ctx, { kind: 'add', host: { director, ident: null, rampup: undefined, weight: 1 } });
    const keysOf = (name: string) =>
      Array.from({ length: 2000 }, (_, i) => ({ by: 'KEY' as const, key: i * 2_147_483 })).filter(
        (own) => shard.choose(ctx, { own, param: null, named: false })?.vclName === name,
      ).length;
    add(a);
    shard.reconfigure(ctx, 10);
    add(b);
    shard.reconfigure(ctx, 1000);
    expect(keysOf('b1')).toBeLessThan(200);
    shard.change(ctx, { kind: 'remove', director: a, ident: null });
    add(a);
    shard.reconfigure(ctx, 1000);
    expect(keysOf('b1')).toBeGreaterThan(700);
  });
});

describe('rampup', () => {
  it('sends requests to the next host while the chosen one has just come back', () => {
    const { ctx } = task('sub vcl_recv { }');
    const fresh = new FakeBackend('fresh', NOW);
    const old = new FakeBackend('old', NOW - 1000);
    const shard = new ShardDirector('s', NOW);
    for (const director of [fresh, old]) {
      shard.change(ctx, { kind: 'add', host: { director, ident: null, rampup: undefined, weight: 1 } });
    }
    shard.reconfigure(ctx, 67);
    shard.rampup = 100;
    const names = (more = {}) =>
      new Set(
        Array.from({ length: 50 }, (_, i) => {
          const own = { by: 'KEY' as const, key: i * 80_000_000, ...more };
          return shard.choose(ctx, { own, param: null, named: false })?.vclName;
        }),
      );
    expect(names()).toEqual(new Set(['old']));
    expect(names({ rampup: false })).toEqual(new Set(['fresh', 'old']));
    ctx.now = NOW + 100;
    expect(names()).toEqual(new Set(['fresh', 'old']));
    expect([...shard.rows(NOW + 25)].map((r) => r.cells)).toEqual([
      ['fresh', 'healthy', ' 25.00%   75.000s'],
      ['old', 'healthy', '100.00%    0.000s'],
    ]);
  });
});
