// A hit that the program has nothing to say about takes a shorter way through the daemon. These tests compare it
// with the long way, which a vcl_deliver of the operator's forces without changing anything.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const FRESH = { 'Cache-Control': 'max-age=1000', ETag: '"tag"' };
const box = new Sandbox('proxyd-plain-hit');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  // Prepared data of a hot object belongs to one thread.
  const params = { worker_threads: '1' };
  proxy = await startProxy(box, { program: backendProgram(origin.port, ''), params });
  // Ids of one width, so that heads are of one length.
  await proxy.adm('debug.xid', '5000');
  const coded = `${backendProgram(origin.port, '')}
sub vcl_hit { if (req.http.never == "never") { set req.http.x = "y"; } }
sub vcl_deliver { if (req.http.never == "never") { set resp.http.x = "y"; } }`;
  const file = box.path('coded');
  writeFileSync(file, coded);
  expect(await proxy.adm('vcl.load', 'coded', file)).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

async function send(request: string): Promise<string> {
  const client = await ClientConnection.open(proxy.port);
  client.send(request);
  const response = await client.response(request.startsWith('HEAD') ? 'HEAD' : 'GET');
  client.close();
  return `${response.head}${response.body.toString('latin1')}`;
}

/** The response to one more request, and its log, without ids and times. */
async function once(request: string): Promise<{ answer: string; log: string[] }> {
  const answer = await send(request);
  const ids = (text: string): string =>
    text
      .replace(/X-Proxy-Id: \d+ (\d+)/, 'X-Proxy-Id: ID $1')
      .replace(/Age: \d+/, 'Age: N')
      .replace(/(Timestamp\s+\w+:).*/, '$1')
      .replace(/(Hit\s+\d+ )[\d.]+/, '$1TTL')
      .replace(/(ReqStart\s+\S+) \d+/, '$1 PORT')
      .replace(/(Begin\s+req) \d+/, '$1 ID')
      .replace(/(VCL_use\s+)\w+/, '$1PROGRAM')
      .replace(/<< Request {2}>> \d+/, 'REQUEST')
      .replace(
        /(ReqAcct\s+\d+ \d+ \d+) (\d+) (\d+) (\d+)/,
        (_, lead, head, body, all) => `${lead} ${head - digits} ${body} ${all - digits}`,
      );
  // An id or an age may have grown by a digit since the last request.
  const digits =
    (/X-Proxy-Id: (\d+)/.exec(answer)?.[1] ?? '').length + (/Age: (\d+)/.exec(answer)?.[1] ?? '').length;
  const vxid = /X-Proxy-Id: (\d+)/.exec(answer)?.[1] as string;
  const log = await proxy.logged(/./, '-g', 'request', '-q', `vxid == ${vxid}`);
  return {
    answer: ids(answer),
    log: log
      .trimEnd()
      .split('\n')
      .map((line) => ids(line.trimEnd())),
  };
}

const REQUESTS: Record<string, string> = {
  'a plain GET': requestText('/plain'),
  'an empty body': requestText('/empty'),
  'no length announced': requestText('/chunked'),
  'a body over one write': requestText('/large'),
  'a body that is sent from where it is stored': requestText('/middling'),
  'a range of it': requestText('/middling', { fields: { Range: 'bytes=3-40001' } }),
  HEAD: requestText('/plain', { method: 'HEAD' }),
  'a range': requestText('/plain', { fields: { Range: 'bytes=2-5' } }),
  'a condition that holds': requestText('/plain', { fields: { 'If-None-Match': '"tag"' } }),
  'a condition that fails': requestText('/plain', { fields: { 'If-None-Match': '"other"' } }),
  'a client that closes': requestText('/plain', { fields: { Connection: 'close' } }),
  'HTTP/1.0': 'GET /plain HTTP/1.0\r\nHost: example.test\r\n\r\n',
  'an object with Age and Via': requestText('/via'),
  'another status': requestText('/gone'),
};

/** Bytes that are nowhere else the same. */
function pattern(name: string, length: number): string {
  let text = '';
  for (let i = 0; text.length < length; i++) text += `${name} ${i};`;
  return text.slice(0, length);
}

describe('a client that does not take its answers', () => {
  it('gets each of them whole, whatever became of the object meanwhile', async () => {
    const COUNT = 200;
    const LENGTH = 60_000;
    let version = 0;
    origin.on('/waiting', () => respond('200 OK', FRESH, pattern(`v${version}`, LENGTH)));
    await send(requestText('/waiting'));
    const client = await ClientConnection.open(proxy.port);
    client.socket.pause();
    for (let i = 0; i < COUNT; i++) client.send(requestText('/waiting'));
    const begun = async (): Promise<number> =>
      (await proxy.log('-q', 'ReqURL eq "/waiting"')).match(/ReqURL/g)?.length ?? 0;
    // It has stopped when nothing more ends.
    let ended = -1;
    await until('the connection is full', async () => {
      const before = ended;
      ended = await begun();
      await delay(100);
      return ended > 1 && ended === before;
    });
    expect(ended).toBeLessThan(COUNT);
    version = 1;
    expect(await proxy.adm('ban', 'req.url', '==', '/waiting')).toMatchObject({ code: 0 });
    // The freed memory is used again.
    await send(requestText('/waiting'));
    for (let i = 0; i < 50; i++) {
      origin.on(`/other?${i}`, respond('200 OK', FRESH, pattern(`other ${i}`, LENGTH)));
      await send(requestText(`/other?${i}`));
    }
    client.socket.resume();
    const whole = [pattern('v0', LENGTH), pattern('v1', LENGTH)];
    const got = [0, 0];
    for (let i = 0; i < COUNT; i++) {
      const { body } = await client.response('GET');
      const which = whole.indexOf(body.toString('latin1'));
      expect(which).toBeGreaterThanOrEqual(0);
      got[which] = (got[which] as number) + 1;
    }
    expect(Math.min(...got)).toBeGreaterThan(0);
    client.close();
  });
});

describe('a hit under the builtin vcl_deliver', () => {
  beforeAll(async () => {
    origin.on('/plain', respond('200 OK', FRESH, '0123456789'));
    origin.on('/empty', respond('200 OK', FRESH, ''));
    origin.on('/chunked', [
      { send: 'HTTP/1.1 200 Fine\r\nCache-Control: max-age=1000\r\n\r\nabc' },
      { close: true },
    ]);
    origin.on('/large', respond('200 OK', FRESH, 'x'.repeat(100_000)));
    origin.on('/middling', respond('200 OK', FRESH, pattern('middling', 50_000)));
    origin.on('/via', respond('200 OK', { ...FRESH, Age: '3', Via: '1.1 other' }, 'abc'));
    origin.on('/gone', respond('410 Gone', FRESH, 'gone'));
  });

  for (const [name, request] of Object.entries(REQUESTS)) {
    it(`${name}: the same answer and log as under one of the operator's`, async () => {
      await proxy.adm('vcl.use', 'boot');
      // A new object is served from its stored bytes, a hot one from its prepared head.
      expect(await proxy.adm('ban', 'req.url', '~', '.')).toMatchObject({ code: 0 });
      await send(request);
      const cold = await once(request);
      expect(cold.answer).toContain('X-Proxy-Id: ID ');
      await proxy.adm('vcl.use', 'coded');
      expect(await once(request)).toEqual(cold);
      await proxy.adm('vcl.use', 'boot');
      for (let i = 0; i < 5; i++) await send(request);
      const plain = await once(request);
      expect(plain.answer).toContain('X-Proxy-Id: ID ');
      await proxy.adm('vcl.use', 'coded');
      expect(await once(request)).toEqual(plain);
    });
  }
});
