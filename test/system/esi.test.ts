// Pages of edge-side includes through a running proxy, as far as a comparison with Varnish does not show it: fragments
// that are fetched at the same time, what waits meanwhile, and who leaves.
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Origin, type OriginRequest, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-esi');
const FRESH = { 'Cache-Control': 'max-age=1000' };
const LARGE = 4_000_000;
let origin: Origin;
let proxy: RunningProxy;

/** Requests for fragments that the origin holds back, by URL. */
class Gate {
  readonly held = new Map<string, () => void>();
  most = 0;
  order: string[] = [];

  /** A reply that comes when open() is called for its URL. */
  reply(request: OriginRequest, fields: Record<string, string> = FRESH, body = `[${request.url}]`) {
    this.order.push(request.url);
    const hold = new Promise<void>((resolve) => this.held.set(request.url, resolve));
    this.most = Math.max(this.most, this.held.size);
    return [{ hold }, ...respond('200 OK', fields, body)];
  }

  open(url: string): void {
    this.held.get(url)?.();
    this.held.delete(url);
  }

  openAll(): void {
    for (const url of [...this.held.keys()]) this.open(url);
  }
}

let gate = new Gate();
let pages = 0;

/** A page of includes that has not been requested yet. */
function page(...includes: string[]): string {
  const url = `/page${++pages}`;
  const body = includes.map((src, i) => `${i}<esi:include src="${src}"/>`).join('');
  origin.on(url, respond('200 OK', FRESH, `<a>${body}</a>`));
  return url;
}

const fragments = (count: number): string[] => Array.from({ length: count }, (_, i) => `/held/${pages}/${i}`);
const expanded = (urls: readonly string[]): string =>
  `<a>${urls.map((url, i) => `${i}[${url}]`).join('')}</a>`;

async function noneInUse(): Promise<void> {
  await until('no connection is in use', async () => {
    const counters = Object.entries(await proxy.counters());
    return counters.filter(([name]) => /^VBE\..*\.conn$/.test(name)).every(([, value]) => value === 0);
  });
}

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', (request) => {
    if (request.url.startsWith('/held/')) return gate.reply(request);
    if (request.url.startsWith('/large/')) return respond('200 OK', FRESH, 'x'.repeat(LARGE));
    return respond('200 OK', FRESH, `[${request.url}]`);
  });
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `backend narrow { .host = "127.0.0.1"; .port = "${origin.port}"; .max_connections = 1; }
sub vcl_recv {
  if (req.http.narrow) { set req.backend_hint = narrow; }
  if (req.url ~ "^/large/") { return (pass); }
}
sub vcl_backend_response {
  if (bereq.url ~ "^/(page|nest|loop)") { set beresp.do_esi = true; }
  if (bereq.url ~ "^/page" && bereq.http.pack) { set beresp.do_gzip = true; }
  if (bereq.url ~ "^/retried" && bereq.retries == 0) {
    if (bereq.url == "/retried/filters") { set beresp.filters = "esi"; }
    else { set beresp.do_esi = true; }
    return (retry);
  }
}`,
    ),
    params: { esi_parallel: '4' },
  });
});
afterEach(() => {
  gate.openAll();
  gate = new Gate();
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

describe('Fragments of a page', () => {
  it('are fetched at the same time, as many as the parameter allows, and written in their order', async () => {
    const urls = fragments(10);
    const answer = proxy.get(page(...urls));
    await until('four are under way', () => gate.held.size === 4);
    // Last one first: fragments out of order wait for their turn, and let others pass meanwhile.
    while (gate.order.length < 10 || gate.held.size > 0) {
      const last = [...gate.held.keys()].at(-1);
      if (last !== undefined && (gate.held.size === 4 || gate.order.length === 10)) gate.open(last);
      await until('the next one', () => gate.held.size === 4 || gate.order.length === 10);
    }
    expect((await answer).body.toString()).toBe(expanded(urls));
    expect(gate.most).toBe(4);
  });

  it('are fetched one after the other with esi_parallel 1', async () => {
    await proxy.adm('param.set', 'esi_parallel', '1');
    const urls = fragments(4);
    const answer = proxy.get(page(...urls));
    for (const url of urls) {
      await until(`${url} is asked for`, () => gate.held.has(url));
      gate.open(url);
    }
    expect((await answer).body.toString()).toBe(expanded(urls));
    expect([gate.most, gate.order]).toEqual([1, urls]);
    await proxy.adm('param.set', 'esi_parallel', '4');
  });

  it('of fragments come while these wait for their own turn', async () => {
    const [slow = '', inner = ''] = fragments(2);
    const nest = `/nest${pages}`;
    origin.on(nest, respond('200 OK', FRESH, `<n><esi:include src="${inner}"/></n>`));
    const answer = proxy.get(page(slow, nest));
    await until('the inner one is asked for', () => gate.held.has(inner));
    gate.openAll();
    expect((await answer).body.toString()).toBe(`<a>0[${slow}]1<n>[${inner}]</n></a>`);
  });

  it('do not keep what comes before them from the client', async () => {
    const [url = ''] = fragments(1);
    const client = await ClientConnection.open(proxy.port);
    client.send(requestText(page('/quick', url)));
    const before = `<a>0[/quick]1`;
    await until('the text is there', () => gate.held.has(url) && client.pending > before.length);
    gate.open(url);
    const { body } = await client.response();
    expect(body.toString()).toBe(`${before}[${url}]</a>`);
    client.close();
  });

  it('are not kept ahead of their turn in more than the bounds of a stream', async () => {
    const [slow = ''] = fragments(1);
    const answer = proxy.get(page(slow, '/large/1', '/large/2', '/large/3'));
    await until('all are asked for', () => origin.requests.some(({ url }) => url === '/large/3'));
    await until('they are there as far as they may be', async () => {
      const bytes = (await proxy.counters())['SMA.Transient.g_bytes'] ?? 0;
      return bytes > 3 * 200_000;
    });
    // Time in which unblocked parts would arrive.
    for (let i = 0; i < 5; i++) {
      expect((await proxy.counters())['SMA.Transient.g_bytes']).toBeLessThan(3 * 600_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    gate.openAll();
    expect((await answer).body.length).toBe(`<a>0[${slow}]123</a>`.length + 3 * LARGE);
  });

  it('leave a backend with one connection to the one in turn', async () => {
    const urls = ['/n1', '/n2', '/n3', '/n4'].map((url) => `${url}/${pages}`);
    const { body } = await proxy.get(page(...urls), { fields: { narrow: '1' } });
    expect(body.toString()).toBe(expanded(urls));
  });

  it('end with a client that leaves, and so does the page', async () => {
    const urls = fragments(6);
    const client = await ClientConnection.open(proxy.port);
    const url = page(...urls);
    client.send(requestText(url));
    await until('four are under way', () => gate.held.size === 4);
    const links = (): Promise<string> => proxy.log('-g', 'request', '-q', `ReqURL eq "${url}"`);
    client.reset();
    // The account of the page itself, which comes after those of its fragments.
    await until('the page is over', async () => /^- +ReqAcct/m.test(await links()));
    // Those in progress ended with it; the others were not requested.
    expect((await links()).match(/<< Request {2}>>/g)).toHaveLength(5);
    gate.openAll();
    await noneInUse();
    expect(gate.order).toHaveLength(4);
    // Fetched fragments are available to the next client.
    const answer = proxy.get(url);
    await until('the rest is asked for', () => gate.held.size === 2);
    gate.openAll();
    expect((await answer).body.toString()).toBe(expanded(urls));
    expect(gate.order).toHaveLength(6);
  });

  it.each([false, true])('that break off are named in the log of the page (packed: %s)', async (packed) => {
    const cut = `/cut${++pages}`;
    origin.on(cut, [
      { send: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n' },
      { wait: 50 },
      { send: '01234' },
      { wait: 50 },
      { close: true },
    ]);
    const url = page(cut, '/after');
    const fields: Record<string, string> = packed ? { pack: '1', 'Accept-Encoding': 'gzip' } : {};
    const { body, complete } = await proxy.get(url, { fields });
    expect(complete).toBe(true);
    expect((packed ? gunzipSync(body) : body).toString()).toBe('<a>0012341[/after]</a>');
    const record = new RegExp(`^- +Error +ESI include ${cut}: its body broke off$`, 'm');
    await proxy.logged(record, '-g', 'request', '-q', `ReqURL eq "${url}"`);
  });

  it('that include themselves end at the limit of depth', async () => {
    origin.on('/loop', respond('200 OK', FRESH, '<l><esi:include src="/loop"/></l>'));
    await proxy.adm('param.set', 'max_esi_depth', '3');
    const before = (await proxy.counters())['MAIN.esi_req'] ?? 0;
    expect((await proxy.get('/loop')).body.toString()).toBe(`${'<l>'.repeat(4)}${'</l>'.repeat(4)}`);
    expect(((await proxy.counters())['MAIN.esi_req'] ?? 0) - before).toBe(3);
    await proxy.logged('ESI depth limit reach (param max_esi_depth = 3)', '-g', 'raw', '-i', 'VCL_Error');
    await proxy.adm('param.set', 'max_esi_depth', '5');
  });

  it.each(['/retried/do_esi', '/retried/filters'])('are not included once %s was retried', async (url) => {
    const body = '<a><esi:include src="/many0"/></a>';
    origin.on(url, respond('200 OK', FRESH, body));
    const response = await proxy.get(url);
    expect(response.status).toBe(200);
    expect(response.body.toString()).toBe(body);
  });

  it('may be many thousands on one page', async () => {
    const url = page(...Array.from({ length: 5000 }, (_, i) => `/many${i % 7}`));
    const { body } = await proxy.get(url);
    expect(body.toString()).toBe(expanded(Array.from({ length: 5000 }, (_, i) => `/many${i % 7}`)));
  });
});
