// Storages: which one an object goes to, what a program learns of them, what happens when one is full. Both products
// play the same requests, one after the other, against two small storages and a bounded Transient.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type Product, startProxy } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

const recorded = recording('storage');
const PARTS = ['answers', 'list', 'counters'] as const;

const PROGRAM = `
sub vcl_recv { if (req.url ~ "pass") { return (pass); } }
sub vcl_backend_response {
  set beresp.http.X-Default = beresp.storage;
  if (bereq.url ~ "one") { set beresp.storage = storage.one; }
  if (bereq.url ~ "two") { set beresp.storage = storage.two; }
  if (bereq.url ~ "transient") { set beresp.storage = storage.Transient; }
  if (bereq.url ~ "whole") { set beresp.do_stream = false; }
  if (bereq.url ~ "uncacheable") { set beresp.uncacheable = true; }
  if (bereq.url ~ "brief") { set beresp.ttl = 9.9s; set beresp.grace = 0s; }
  set beresp.http.X-Chosen = beresp.storage;
  if (storage.two.used_space > 0B) { set beresp.http.X-Used = "yes"; }
  if (storage.two.free_space > 1MB) { set beresp.http.X-Free = "yes"; }
}
sub vcl_hit { set req.http.X-Found = obj.storage; }
sub vcl_deliver {
  set resp.http.X-Stored = obj.storage;
  set resp.http.X-Found = req.http.X-Found;
  set resp.http.X-Grace = obj.grace;
  if (obj.ttl > 60s) { set resp.http.X-Long = "yes"; }
}
`;

/** URLs asked for in this order; a number is the length of the body. */
const REQUESTS = [
  '/a',
  '/b',
  '/c',
  '/a',
  '/one/a',
  '/two/a',
  '/transient/a',
  '/one/a',
  '/two/a',
  '/transient/a',
  '/brief',
  '/brief/one',
  '/pass',
  '/pass/one',
  '/uncacheable/one',
  '/d',
  '/one/400000/a',
  '/one/400000/b',
  '/one/400000/c',
  '/one/400000/b',
  '/one/400000/a',
  '/e',
];
/** Larger than their storage, and not streamed. Varnish pushes everything out before it gives up; here what can
 * never fit pushes out nothing, so the counters are read before. */
const TOO_LARGE = ['/one/whole/2000000', '/pass/whole/2000000'];

const COUNTERS =
  /^MAIN\.(n_object|n_lru_nuked|n_lru_moved|n_lru_limited|beresp_shortlived|beresp_uncacheable|fetch_failed)$/;

type Part = string[] | string | [string, number][];

async function play(box: Sandbox, product: Product): Promise<Answers<Part>> {
  const origin = await Origin.start();
  origin.on('*', (request) =>
    respond(
      '200 OK',
      { 'Cache-Control': 'max-age=600' },
      'x'.repeat(Number(/\/(\d+)/.exec(request.url)?.[1] ?? 10)),
    ),
  );
  const proxy = await startProxy(box, {
    product,
    program: backendProgram(origin.port, PROGRAM),
    storage: ['one=malloc,1m', 'two=malloc,2m', 'Transient=malloc,1m'],
  });
  try {
    const answers: string[] = [];
    const ask = async (url: string): Promise<void> => {
      const got = await proxy.get(url);
      const fields = ['Default', 'Chosen', 'Used', 'Free', 'Stored', 'Found', 'Grace', 'Long'].map(
        (name) => `${name}=${field(got, `x-${name.toLowerCase()}`) ?? ''}`,
      );
      const body = got.status === 200 ? ` ${got.complete} ${got.body.length}` : '';
      answers.push(`${url}: ${got.status}${body} ${fields.join(' ')}`);
    };
    for (const url of REQUESTS) await ask(url);
    await proxy.counterReaches('MAIN.s_fetch', 17);
    const counters = Object.entries(await proxy.counters()).filter(([name]) => COUNTERS.test(name));
    for (const url of TOO_LARGE) await ask(url);
    const list = (await proxy.adm('storage.list')).stdout;
    return new Map<string, Part>([
      ['answers', answers],
      ['list', list],
      ['counters', counters.sort()],
    ]);
  } finally {
    await proxy.stop();
    await origin.close();
  }
}

describe('storages beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-storage');
  let reference: Reference<Part>;
  let ours: Answers<Part>;

  beforeAll(async () => {
    const inputs = inputsOf([PROGRAM, ...REQUESTS, ...TOO_LARGE].join('\n'), PARTS);
    [reference, ours] = await recorded.both(inputs, (product) => play(box, product));
  });
  afterAll(() => box.dispose());

  it('puts every object where Varnish puts it', () => {
    expect(ours.get('answers')).toEqual(reference.get('answers'));
    expect(String(ours.get('answers'))).toContain('Stored=storage.two');
  });

  it('lets by what is larger than its storage, where Varnish cuts it off', async () => {
    const origin = await Origin.start();
    origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=600' }, 'x'.repeat(3_000_000)));
    const proxy = await startProxy(box, {
      dir: box.path('by'),
      program: backendProgram(origin.port),
      storage: ['malloc,1m'],
    });
    for (let i = 0; i < 2; i++) {
      const got = await proxy.get('/large');
      expect([got.status, got.complete, got.body.length]).toEqual([200, true, 3_000_000]);
    }
    expect(await proxy.counterReaches('MAIN.s_fetch', 2)).toBe(2);
    await proxy.stop();
    await origin.close();
  });

  it('lists and counts as Varnish does', () => {
    expect(ours.get('list')).toBe(reference.get('list'));
    expect(ours.get('counters')).toEqual(reference.get('counters'));
  });
});
