// How requests spread: round robin and random beside Varnish's, and least_conn, which only proxyd has.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { installed, Sandbox } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';

const REQUESTS = 2000;
const PRODUCTS: readonly Product[] = installed('varnishd') ? ['varnish', 'proxyd'] : ['proxyd'];

const program = (ports: readonly number[], own: boolean): string => `vcl 4.1;
import directors;
${ports.map((port, i) => `backend b${i + 1} { .host = "127.0.0.1"; .port = "${port}"; }`).join('\n')}
sub vcl_init {
  new rr = directors.round_robin();
  rr.add_backend(b1); rr.add_backend(b2); rr.add_backend(b3);
  new ra = directors.random();
  ra.add_backend(b1, 1); ra.add_backend(b2, 3); ra.add_backend(b3, 4);
  ${own ? 'new lc = directors.least_conn(); lc.add_backend(b1); lc.add_backend(b2); lc.add_backend(b3, 2);' : ''}
}
sub vcl_recv {
  if (req.url ~ "^/rr") { set req.backend_hint = rr.backend(); }
  if (req.url ~ "^/ra") { set req.backend_hint = ra.backend(); }
  ${own ? 'if (req.url ~ "^/(lc|slow)") { set req.backend_hint = lc.backend(); }' : ''}
  return (pass);
}
`;

describe.each(PRODUCTS)('the balance of %s', (product) => {
  const box = new Sandbox('proxyd-balance');
  const origins: Origin[] = [];
  let proxy: RunningProxy;
  const release: (() => void)[] = [];

  beforeAll(async () => {
    for (let i = 1; i <= 3; i++) {
      const origin = await Origin.start();
      const answer = respond('200 OK', { Origin: `b${i}` }, 'x');
      origin.on('*', answer);
      origin.on('/slow', () => [{ hold: new Promise<void>((done) => release.push(done)) }, ...answer]);
      origins.push(origin);
    }
    const ports = origins.map((o) => o.port);
    proxy = await startProxy(box, { product, program: program(ports, product === 'proxyd') });
  });
  afterAll(async () => {
    for (const done of release) done();
    await box.dispose();
    for (const origin of origins) await origin.close();
  });

  const count = async (url: string): Promise<number[]> => {
    const connection = await ClientConnection.open(proxy.port);
    const names: string[] = [];
    for (let i = 0; i < REQUESTS; i++) {
      connection.send(`GET ${url} HTTP/1.1\r\nHost: balance.test\r\n\r\n`);
      names.push(field(await connection.response('GET'), 'origin') ?? '');
    }
    connection.close();
    return ['b1', 'b2', 'b3'].map((name) => names.filter((n) => n === name).length);
  };

  it('is even for round_robin', async () => {
    const [a = 0, b = 0, c = 0] = await count('/rr');
    expect(a + b + c).toBe(REQUESTS);
    expect(Math.max(a, b, c) - Math.min(a, b, c)).toBeLessThanOrEqual(1);
  });

  it('is by weight for random', async () => {
    const counts = await count('/ra');
    // Five standard deviations of the widest count are 0.056 of 2,000.
    for (const [i, share] of [1 / 8, 3 / 8, 4 / 8].entries()) {
      expect(Math.abs((counts[i] ?? 0) / REQUESTS - share)).toBeLessThan(0.06);
    }
  });

  it.runIf(product === 'proxyd')('is by connections in use for least_conn', async () => {
    const waiting: ClientConnection[] = [];
    const busy = (): number[] => origins.map((o) => o.seen('/slow').length);
    // Eight requests that no origin answers yet: the third backend, with twice the weight, carries half of them.
    for (let i = 1; i <= 8; i++) {
      const connection = await ClientConnection.open(proxy.port);
      connection.send('GET /slow HTTP/1.1\r\nHost: balance.test\r\n\r\n');
      waiting.push(connection);
      await expect.poll(() => busy().reduce((a, b) => a + b, 0)).toBe(i);
    }
    expect(busy()).toEqual([2, 2, 4]);
    for (const done of release.splice(0)) done();
    for (const connection of waiting) {
      expect((await connection.response('GET')).status).toBe(200);
      connection.close();
    }
    const [a = 0, b = 0, c = 0] = await count('/lc');
    expect(a + b + c).toBe(REQUESTS);
    expect(Math.max(a, b, c) - Math.min(a, b, c)).toBeLessThanOrEqual(1);
  });
});
