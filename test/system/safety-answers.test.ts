// Some six hundred hostile answers, each asked for as an object, past the cache, unpacked, packed and not streamed, by
// clients of both versions, with and without gzip: none may look whole to any of them or be there afterwards. And
// good answers cut in two at every byte, which must come through.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostileAnswer, hostileAnswers } from '../harness/hostile-answers.ts';
import { ClientConnection, type Response } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-answers');
const TOGETHER = 16;
let origin: Origin;
let proxy: RunningProxy;
let worker: number | null;
let paths = 0;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'fine\n'));
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `sub vcl_recv { if (req.url ~ "^/pass") { return (pass); } }
sub vcl_backend_response {
  if (bereq.url ~ "^/unpack") { set beresp.do_gunzip = true; }
  if (bereq.url ~ "^/pack") { set beresp.do_gzip = true; }
  if (bereq.url ~ "^/whole") { set beresp.do_stream = false; }
}`,
    ),
    params: { first_byte_timeout: '3', between_bytes_timeout: '3' },
  });
  worker = proxy.workerPid();
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

async function get(url: string, fields = '', version = '1.1'): Promise<Response | null> {
  const conn = await ClientConnection.open(proxy.port);
  conn.send(`GET ${url} HTTP/${version}\r\nHost: a\r\n${fields}\r\n`);
  const got = await conn.response().catch((error: Error) => {
    if (conn.ended) return null;
    throw error;
  });
  conn.close();
  return got;
}

const looksWhole = (got: Response | null): boolean => got !== null && got.status < 500 && got.complete;

async function judge([name, actions]: HostileAnswer, prefix: string): Promise<string | null> {
  const url = `${prefix}${++paths}`;
  origin.on(url, actions);
  const got = await Promise.all([get(url), get(url, 'Accept-Encoding: gzip\r\n'), get(url, '', '1.0')]);
  const asked = origin.seen(url).length;
  got.push(await get(url, 'Accept-Encoding: gzip\r\n'));
  const wrong = got.filter(looksWhole).map((each) => `whole, ${each?.status} ${each?.body.length}`);
  if (origin.seen(url).length === asked) wrong.push('kept');
  const odd = got.find((each) => each !== null && each.status >= 500 && each.status !== 503);
  if (odd !== undefined) wrong.push(`status ${odd?.status}`);
  return wrong.length === 0 ? null : `${name}: ${wrong.join('; ')}`;
}

describe('broken answers', () => {
  it.each(['/object', '/pass', '/unpack', '/pack', '/whole'])('at %s', async (prefix) => {
    const cases = hostileAnswers();
    const wrong: string[] = [];
    for (let i = 0; i < cases.length; i += TOGETHER) {
      const some = cases.slice(i, i + TOGETHER).map((each) => judge(each, prefix));
      for (const found of await Promise.all(some)) if (found !== null) wrong.push(found);
      expect((await get(`/fine${prefix}${i}`))?.body.toString()).toBe('fine\n');
    }
    expect(wrong).toEqual([]);
  });
});

describe('good answers cut at every byte', () => {
  const FRESH = 'Cache-Control: max-age=100\r\n';
  it.each([
    ['by length', `HTTP/1.1 200 OK\r\n${FRESH}Content-Length: 4\r\n\r\nbody`],
    [
      'in chunks',
      `HTTP/1.1 200 OK\r\n${FRESH}Transfer-Encoding: chunked\r\n\r\n2;x="y"\r\nbo\r\n2\r\ndy\r\n0\r\nT: x\r\n\r\n`,
    ],
    [
      'behind interim ones',
      `HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 x\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n${FRESH}Content-Length: 4\r\n\r\nbody`,
    ],
  ])('%s', async (_name, text) => {
    const cuts = Array.from({ length: text.length - 1 }, (_, i) => i + 1);
    const bodies = await Promise.all(
      cuts.map(async (cut) => {
        const url = `/cut${++paths}`;
        origin.on(url, [{ send: text.slice(0, cut) }, { wait: 5 }, { send: text.slice(cut) }]);
        const got = await get(url);
        return got?.complete === true ? got.body.toString() : `cut at ${cut}`;
      }),
    );
    expect(new Set(bodies)).toEqual(new Set(['body']));
  });
});

describe('afterwards', () => {
  it('the worker is the same and no connection is in use', async () => {
    expect(proxy.workerPid()).toBe(worker);
    await until('all given back', async () => {
      const counters = Object.entries(await proxy.counters());
      return counters.filter(([name]) => /^VBE\..*\.conn$/.test(name)).every(([, value]) => value === 0);
    });
  });
});
