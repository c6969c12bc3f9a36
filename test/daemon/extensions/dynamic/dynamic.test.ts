// The extension dynamic: which addresses are used, when names are looked up, who waits for that, and what goes again.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Director } from '../../../../daemon/contract/context.ts';
import type { RunTimeDecl } from '../../../../daemon/contract/program.ts';
import { dynamicExtension } from '../../../../daemon/extensions/dynamic/dynamic.ts';
import type { Answer, Names, Target } from '../../../../daemon/extensions/dynamic/names.ts';
import { findExtension } from '../../../../daemon/extensions/registry.ts';
import { initProgram } from '../../../../daemon/vcl/loader.ts';
import { fakeDirector, host, type Task, task } from '../../vcl/fake-task.ts';

let zone: Record<string, Answer>;
let services: Record<string, Target[]>;
let asked: string[];
/** The next questions wait for it. */
let held: Promise<void>;
let sick: Set<string>;
let made: Map<string, RunTimeDecl>;

beforeEach(() => {
  vi.useFakeTimers();
  zone = { 'a.test': { addresses: ['192.0.2.1', '192.0.2.2', '10.1.0.1'], ttl: 7 } };
  services = {};
  asked = [];
  held = Promise.resolve();
  sick = new Set();
  made = new Map();
});
afterEach(() => {
  vi.useRealTimers();
});

const names: Names = {
  async addresses(name) {
    asked.push(name);
    await held;
    const found = zone[name];
    if (found === undefined) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
    return found;
  },
  async targets(service) {
    asked.push(service);
    await held;
    return services[service] ?? Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }));
  },
};
const extension = dynamicExtension(names, names);

/** A program with an object `d`, loaded. */
function start(args: string, init = ''): Task {
  const t = task(
    `vcl 4.1; import dynamic; import directors; backend none none; backend through { .host = "127.0.0.1"; }
     acl inside { "192.0.2.0"/24; }
     probe p { .url = "/p"; }
     sub vcl_init { new r = dynamic.resolver(); new d = dynamic.director(${args}); ${init} }
     sub vcl_backend_fetch { set bereq.backend = d.backend(bereq.http.to, bereq.http.port); return (fetch); }
     sub vcl_pipe { set bereq.backend = d.service("_http._tcp.a.test"); return (pipe); }`,
    {},
    { errUnref: false, extensions: (name) => (name === 'dynamic' ? extension : findExtension(name)) },
  );
  const backends = new Map<string, Director>();
  t.program.makeBackend = (decl) => {
    const name = decl.shownAs ?? '';
    made.set(name, decl);
    const known = backends.get(name) ?? {
      ...fakeDirector(name),
      healthy: () => !sick.has(name),
    };
    backends.set(name, known);
    return known;
  };
  t.ctx.req = null;
  expect(initProgram(t.program, t.ctx)).toBe(null);
  t.ctx.bo = t.bo;
  return t;
}

/** The director that vcl_backend_fetch sets. */
function director(t: Task, to: string | null = 'a.test', port = ''): Director | null {
  t.bo.bereq.unset('to');
  t.bo.bereq.unset('port');
  if (to !== null) t.bo.bereq.set('to', to);
  if (port !== '') t.bo.bereq.set('port', port);
  t.bo.backend = null;
  expect(t.run('backend_fetch')).toBe('fetch');
  return t.bo.backend;
}

/** Names of the backends that fetches would go to. */
async function fetched(
  t: Task,
  count = 1,
  to: string | null = 'a.test',
  port = '',
): Promise<(string | null)[]> {
  const found = director(t, to, port);
  const all: (string | null)[] = [];
  for (let i = 0; i < count; i++) {
    let backend = found?.resolve(t.ctx) ?? null;
    if (backend === null) {
      await found?.pending?.(t.ctx);
      backend = found?.resolve(t.ctx) ?? null;
    }
    all.push(backend?.vclName ?? null);
  }
  return all;
}

const errors = (t: Task): string[] => t.log.of('Error');

describe('a host', () => {
  it('is a director in front of its addresses, which take turns', async () => {
    const t = start('port = "8080"');
    expect(director(t)?.vclName).toBe('d(a.test:8080)');
    expect(await fetched(t, 4)).toEqual([
      'd(192.0.2.1:8080)',
      'd(192.0.2.2:8080)',
      'd(10.1.0.1:8080)',
      'd(192.0.2.1:8080)',
    ]);
    expect(asked).toEqual(['a.test']);
    expect([...t.program.directors.keys()]).toContain('d(a.test:8080)');
  });

  it('is by default that of the Host header, without its port', async () => {
    const t = start('');
    t.bo.bereq.set('Host', 'A.test:81');
    expect(await fetched(t, 1, null)).toEqual(['d(192.0.2.1:http)']);
    expect(await fetched(t, 1, null, '8000')).toEqual(['d(192.0.2.1:8000)']);
  });

  it('may be an address', async () => {
    zone['2001:db8::1'] = { addresses: ['2001:db8::1'], ttl: null };
    const t = start('port = "80"');
    expect(await fetched(t, 1, '[2001:db8::1]')).toEqual(['d([2001:db8::1]:80)']);
  });

  it.each(['a b', '', 'x'.repeat(254), 'a/b', '-\r\nX: 1'])('%j is none', async (to) => {
    const t = start('');
    expect(director(t, to)).toBe(null);
    expect(errors(t)).toHaveLength(1);
    expect(errors(t)[0]).toMatch(/^vmod-dynamic test d .* is not a host and port$/);
    expect(asked).toEqual([]);
  });

  it('skips addresses that the acl does not allow, and logs it if none remains', async () => {
    const t = start('whitelist = inside');
    expect(new Set(await fetched(t, 6))).toEqual(new Set(['d(192.0.2.1:http)', 'd(192.0.2.2:http)']));
    zone['b.test'] = { addresses: ['10.0.0.1', '::ffff:10.0.0.2'], ttl: null };
    expect(await fetched(t, 1, 'b.test')).toEqual([null]);
    expect(errors(t)).toEqual([
      'vmod-dynamic test d b.test:http whitelist mismatch 10.0.0.1',
      'vmod-dynamic test d b.test:http whitelist mismatch ::ffff:10.0.0.2',
    ]);
  });

  it('leaves out sick backends, and is sick when all are', async () => {
    const t = start('');
    await fetched(t);
    sick.add('d(192.0.2.1:http)');
    expect(new Set(await fetched(t, 6))).toEqual(new Set(['d(192.0.2.2:http)', 'd(10.1.0.1:http)']));
    expect(director(t)?.healthy(0)).toBe(true);
    sick.add('d(192.0.2.2:http)').add('d(10.1.0.1:http)');
    expect(director(t)?.healthy(0)).toBe(false);
    expect(await fetched(t)).toEqual([null]);
  });

  it('has backends with the attributes of the object', async () => {
    const t = start(
      'share = HOST, probe = p, connect_timeout = 2s, first_byte_timeout = 3s, between_bytes_timeout = 4s, max_connections = 5, proxy_header = 2, wait_limit = 6, wait_timeout = 7s',
    );
    await fetched(t);
    expect(made.get('d(a.test.192.0.2.1:http)')).toEqual({
      host: '192.0.2.1',
      port: 'http',
      shownAs: 'd(a.test.192.0.2.1:http)',
      hostHeader: 'a.test',
      connectTimeout: 2,
      firstByteTimeout: 3,
      betweenBytesTimeout: 4,
      maxConnections: 5,
      proxyHeader: 2,
      waitLimit: 6,
      waitTimeout: 7,
      probe: expect.objectContaining({ url: '/p' }),
    });
    const plain = start('');
    await fetched(plain);
    expect(made.get('d(192.0.2.1:http)')).toEqual({
      host: '192.0.2.1',
      port: 'http',
      shownAs: 'd(192.0.2.1:http)',
    });
  });

  it('shares its backends with other hosts of the object, unless each has its own', async () => {
    zone['b.test'] = { addresses: ['192.0.2.1'], ttl: null };
    const shared = start('');
    const own = start('share = HOST, host_header = "all.test"');
    for (const t of [shared, own]) for (const to of ['a.test', 'b.test']) await fetched(t, 3, to);
    expect([...made.keys()].filter((name) => name.includes('192.0.2.1:')).sort()).toEqual([
      'd(192.0.2.1:http)',
      'd(a.test.192.0.2.1:http)',
      'd(b.test.192.0.2.1:http)',
    ]);
    expect(made.get('d(b.test.192.0.2.1:http)')?.hostHeader).toBe('all.test');
  });
});

describe('via another backend', () => {
  it('a host is sent by its name, or by the given authority', async () => {
    const t = start('via = through, port = "443"');
    await fetched(t);
    expect(made.get('d(192.0.2.1:443)')).toMatchObject({ via: 'through', authority: 'a.test' });
    const named = start('via = through, authority = "sni.test"');
    await fetched(named);
    expect(made.get('d(192.0.2.1:http)')).toMatchObject({ via: 'through', authority: 'sni.test' });
  });
});

describe('lookups', () => {
  const settle = (seconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(seconds * 1000);
  const questions = async (seconds: number): Promise<number> => {
    asked = [];
    await settle(seconds);
    return asked.length;
  };

  it('come again after ttl, or after what the name server says', async () => {
    const counts: number[] = [];
    for (const from of ['cfg', 'dns', 'min', 'max']) {
      const t = start(`ttl = 2s, resolver = r.use(), ttl_from = ${from}`);
      await fetched(t);
      counts.push(await questions(14.5));
      t.program.directors.get('d(a.test:http)')?.setWarm(false);
    }
    expect(counts).toEqual([7, 2, 7, 2]);
  });

  it('use new addresses, and keep the old ones while they fail', async () => {
    const t = start('ttl = 2s, retry_after = 1s');
    await fetched(t);
    zone['a.test'] = { addresses: ['192.0.2.9'], ttl: null };
    await settle(2.5);
    expect(await fetched(t, 2)).toEqual(['d(192.0.2.9:http)', 'd(192.0.2.9:http)']);
    zone = {};
    await settle(2);
    expect(await fetched(t)).toEqual(['d(192.0.2.9:http)']);
    asked = [];
    await settle(3.2);
    expect(asked.length).toBe(3);
    zone['a.test'] = { addresses: ['192.0.2.10'], ttl: null };
    await settle(1);
    expect(await fetched(t)).toEqual(['d(192.0.2.10:http)']);
  });

  it('that fail leave a new host without a backend, and the log says why', async () => {
    const t = start('retry_after = 5s');
    expect(await fetched(t, 1, 'none.test')).toEqual([null]);
    expect(errors(t)).toEqual(['vmod-dynamic test d none.test:http getaddrinfo ENOTFOUND']);
    zone['none.test'] = { addresses: ['192.0.2.1'], ttl: null };
    await settle(5.1);
    expect(await fetched(t, 1, 'none.test')).toEqual(['d(192.0.2.1:http)']);
  });

  it('are waited for once, for no longer than first_lookup_timeout', async () => {
    const t = start('first_lookup_timeout = 3s');
    let answer: () => void = () => undefined;
    held = new Promise((go) => {
      answer = go;
    });
    const found = director(t);
    expect(found?.resolve(t.ctx)).toBe(null);
    let waited = false;
    void found?.pending?.(t.ctx)?.then(() => {
      waited = true;
    });
    await settle(2.9);
    expect(waited).toBe(false);
    await settle(0.2);
    expect(waited).toBe(true);
    expect(found?.pending?.(t.ctx)).toBe(null);
    expect(asked).toEqual(['a.test']);
    answer();
    await settle(0);
    expect(await fetched(t)).toEqual(['d(192.0.2.1:http)']);
  });

  it('rest while the program is cold', async () => {
    const t = start('ttl = 1s');
    await fetched(t);
    const found = director(t);
    found?.setWarm(false);
    expect(await questions(10)).toBe(0);
    found?.setWarm(true);
    expect(await questions(3.5)).toBe(3);
  });
});

describe('hosts that nobody uses', () => {
  const isListed = (t: Task, name: string): boolean => t.program.directors.has(name);

  it('go after domain_usage_timeout; those of vcl_init stay', async () => {
    let now = 1_700_000_000;
    const clock = vi.spyOn(host, 'now').mockImplementation(() => now);
    const t = start(
      'domain_usage_timeout = 100s',
      'new rr = directors.round_robin(); rr.add_backend(d.backend("b.test"));',
    );
    await fetched(t);
    now += 60;
    await vi.advanceTimersByTimeAsync(61_000);
    expect([isListed(t, 'd(a.test:http)'), isListed(t, 'd(b.test:http)')]).toEqual([true, true]);
    now += 60;
    await vi.advanceTimersByTimeAsync(61_000);
    expect([isListed(t, 'd(a.test:http)'), isListed(t, 'd(b.test:http)')]).toEqual([false, true]);
    clock.mockRestore();
  });

  it('make room for others, a thousand at most', async () => {
    const t = start('');
    for (let i = 0; i < 1003; i++) director(t, `h${i}.test`);
    expect([isListed(t, 'd(h0.test:http)'), isListed(t, 'd(h2.test:http)')]).toEqual([false, false]);
    expect([isListed(t, 'd(h3.test:http)'), isListed(t, 'd(h1002.test:http)')]).toEqual([true, true]);
  });

  it('end with the program', async () => {
    const t = start('ttl = 1s');
    await fetched(t);
    for (const { self, destroy } of t.program.objects) destroy(self);
    expect(isListed(t, 'd(a.test:http)')).toBe(false);
    asked = [];
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked).toEqual([]);
  });
});

describe('within another director', () => {
  it('the first lookup is waited for as well', async () => {
    let answer: () => void = () => undefined;
    held = new Promise((go) => {
      answer = go;
    });
    const t = start('', 'new rr = directors.round_robin(); rr.add_backend(d.backend("a.test"));');
    const rr = [...t.program.objects].map(({ self }) => self).find((self) => 'resolve' in self) as Director;
    expect(rr.resolve(t.ctx)).toBe(null);
    const pending = rr.pending?.(t.ctx);
    expect(pending).toBeInstanceOf(Promise);
    answer();
    await pending;
    expect(rr.resolve(t.ctx)?.vclName).toBe('d(192.0.2.1:http)');
    expect(rr.pending?.(t.ctx)).toBe(null);
  });
});

describe('a service', () => {
  const SRV = '_http._tcp.a.test';
  const hosts = { one: '192.0.2.1', two: '192.0.2.2', three: '192.0.2.3' };

  function service(targets: Target[]): Task {
    services[SRV] = targets;
    for (const [name, address] of Object.entries(hosts)) zone[name] = { addresses: [address], ttl: null };
    return start('resolver = r.use()');
  }

  async function chosen(t: Task, count: number): Promise<Map<string, number>> {
    t.ctx.bo = t.bo;
    expect(t.run('pipe')).toBe('pipe');
    const found = t.bo.backend;
    if (found?.resolve(t.ctx) === null) await found.pending?.(t.ctx);
    const counts = new Map<string, number>();
    for (let i = 0; i < count; i++) {
      const name = found?.resolve(t.ctx)?.vclName ?? 'none';
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  it('is served by the lowest priority that is healthy', async () => {
    const t = service([
      { name: 'two', port: 82, priority: 20, weight: 1 },
      { name: 'one', port: 81, priority: 10, weight: 1 },
    ]);
    expect([...(await chosen(t, 5)).keys()]).toEqual(['d(192.0.2.1:81)']);
    sick.add('d(192.0.2.1:81)');
    expect([...(await chosen(t, 5)).keys()]).toEqual(['d(192.0.2.2:82)']);
    sick.add('d(192.0.2.2:82)');
    expect([...(await chosen(t, 5)).keys()]).toEqual(['none']);
    expect(t.program.directors.has(`d(${SRV})`)).toBe(true);
  });

  it('goes to equal ones as often as their weights say', async () => {
    const t = service([
      { name: 'one', port: 80, priority: 1, weight: 30 },
      { name: 'two', port: 80, priority: 1, weight: 10 },
      { name: 'three', port: 80, priority: 1, weight: 0 },
    ]);
    const counts = await chosen(t, 4000);
    expect(counts.get('d(192.0.2.1:80)')).toBeGreaterThan(2700);
    expect(counts.get('d(192.0.2.2:80)')).toBeGreaterThan(800);
    expect(counts.get('d(192.0.2.3:80)') ?? 0).toBeLessThan(20);
  });

  it('needs a director with a resolver', () => {
    const t = start('');
    t.ctx.bo = t.bo;
    expect(t.run('pipe')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual(['vmod-dynamic d.service() needs a director with a resolver']);
  });
});

describe('a program does not load', () => {
  it.each([
    ['dynamic.director(ttl_from = dns)', 'ttl_from=dns needs a resolver'],
    ['dynamic.director(proxy_header = 3)', 'proxy_header is 0, 1 or 2'],
    ['dynamic.director(via = rr.backend())', 'via has to be a backend of the program'],
  ])('with %s', (object, words) => {
    const t = task(
      `vcl 4.1; import dynamic; import directors; backend b { .host = "127.0.0.1"; }
       sub vcl_init { new rr = directors.round_robin(); rr.add_backend(b); new d = ${object}; } sub vcl_recv { set req.backend_hint = d.backend("a"); return (pass); }`,
    );
    t.ctx.req = null;
    expect(t.run('init')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual([`dynamic.director d: ${words}`]);
  });

  it.each([
    ['set_resolution_type(RECURSING)', 'RECURSING'],
    ['add_namespace(MDNS)', 'MDNS'],
    ['add_transport(TLS)', 'TLS'],
  ])('with %s, which there is not', (call, what) => {
    const t = task(
      `vcl 4.1; import dynamic; backend b none; sub vcl_init { new r = dynamic.resolver(); if (r.${call}) { return (ok); } }`,
    );
    t.ctx.req = null;
    expect(t.run('init')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual([`dynamic.resolver r: ${what} is not available here`]);
  });
});
