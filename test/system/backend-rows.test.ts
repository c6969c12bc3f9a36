// Backends in the console on a real daemon: why a probe fails, and queries that find a backend's requests in the
// daemon's own log.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LiveSource } from '../../console/client/live-source.ts';
import { DaemonSession } from '../../console/model/session/daemon-session.ts';
import { BACKENDS_LINE, backendRows } from '../../console/views/backends/backend-rows.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('backend-rows');
let origin: Origin;
let proxy: RunningProxy;
let session: DaemonSession;

const row = (name: string) => backendRows(session).find((r) => r.facts.name === `boot.${name}`);

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'x'));
  origin.on('/busy', respond('503 Service Unavailable', {}, 'x'));
  const at = `.host = "127.0.0.1"; .port = "${origin.port}";`;
  const probe = (url: string) =>
    `.probe = { .url = "${url}"; .interval = 0.1s; .expect_close = false; .window = 4; .threshold = 2; }`;
  proxy = await startProxy(box, {
    program: `vcl 4.1;
import directors;
backend good { ${at} ${probe('/fine')} }
backend busy { ${at} ${probe('/busy')} }
backend gone { .host = "127.0.0.1"; .port = "1"; ${probe('/fine')} }
backend bare { .host = "127.0.0.1"; .port = "1"; }
sub vcl_init {
  new half = directors.fallback(); half.add_backend(busy); half.add_backend(good);
  new none = directors.round_robin(); none.add_backend(busy); none.add_backend(gone);
}
sub vcl_recv {
  if (req.url == "/good") { set req.backend_hint = good; }
  if (req.url == "/busy") { set req.backend_hint = busy; }
  if (req.url == "/gone") { set req.backend_hint = gone; }
  if (req.url == "/bare") { set req.backend_hint = bare; }
  if (req.url == "/half") { set req.backend_hint = half.backend(); }
  if (req.url == "/none") { set req.backend_hint = none.backend(); }
  return (pass);
}`,
  });
  session = new DaemonSession({
    source: new LiveSource({ dir: proxy.dir, name: 'test' }),
    now: () => Date.now() / 1000,
    later: (fn, ms) => setTimeout(fn, ms),
  });
  session.start();
  session.admin.watch([{ line: BACKENDS_LINE, every: 0.1 }]);
  session.probes.watch();
  await until('the health of each', () => {
    session.admin.tick();
    return (
      ['busy', 'gone', 'none'].every((name) => row(name)?.facts.health === 'sick') &&
      row('good')?.facts.health === 'healthy'
    );
  });
  for (const name of ['good', 'busy', 'gone', 'bare', 'half', 'none']) await proxy.get(`/${name}`);
});

afterAll(async () => {
  session.close();
  await proxy.stop();
  await origin.close();
  await box.dispose();
});

it('say why a probe failed, and where the last connection went', async () => {
  const shown = (name: string) => row(name)?.cells[5]?.text;
  await until('answers', () => {
    session.admin.tick();
    return (
      shown('good') === 'HTTP 200' && shown('busy') === 'HTTP 503' && shown('gone') === 'connect refused'
    );
  });
  expect(['bare', 'half', 'none'].map(shown)).toEqual(['', '', '']);
  await until('an address', async () => {
    await proxy.get('/good');
    const pieces = row('good')?.detail().flat() ?? [];
    return pieces.some((piece) => piece.text === `127.0.0.1:${origin.port}`);
  });
});

it('say how fast each answers, how often it fails, and how it is probed', async () => {
  const figure = (name: string, of: string) => Number(row(name)?.facts[of]);
  await until('times and failures', async () => {
    await proxy.get('/busy');
    await proxy.get('/good');
    await proxy.get('/bare');
    return figure('good', 'p99') > 0 && figure('busy', 'errors') === 1 && figure('bare', 'errors') === 1;
  });
  expect(figure('good', 'p50')).toBeLessThanOrEqual(figure('good', 'p99'));
  expect(figure('good', 'errors')).toBe(0);
  const text =
    row('good')
      ?.detail()
      .map((line) => line.map((piece) => piece.text).join('')) ?? [];
  expect(text.find((line) => line.startsWith('Probe'))).toMatch(
    /GET \/fine every 0\.1s, within 2s: \d of the last 4/,
  );
});

it.each([
  ['good', ['/good', '/half']],
  ['busy', ['/busy']],
  ['gone', ['/gone']],
  ['bare', ['/bare']],
  ['half', ['/good', '/busy', '/half']],
  ['none', ['/busy', '/gone', '/none']],
])('have a query that finds what %s did', async (name, urls) => {
  const query = row(name)?.facts.query ?? '';
  const found = await until(`${name} by ${query}`, async () => {
    const text = await proxy.log('-g', 'request', '-i', 'ReqURL', '-q', query);
    const seen = [...new Set([...text.matchAll(/ReqURL +(\S+)/g)].map((m) => m[1]))];
    return seen.length >= urls.length ? seen : null;
  });
  // Threads may log them in another order.
  expect(found.toSorted()).toEqual(urls.toSorted());
});
