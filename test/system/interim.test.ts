// Interim responses of an origin under http_profile=rfc9111: which clients get them, and that none is stored.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClientConnection, field, requestText } from '../harness/http-client.ts';
import { Origin, type Reply, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-interim');
let origin: Origin;
let proxy: RunningProxy;
let urls = 0;

beforeAll(async () => {
  origin = await Origin.start();
  proxy = await startProxy(box, {
    program: backendProgram(origin.port),
    params: { http_profile: 'rfc9111' },
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const FINAL = respond('200 OK', { 'Cache-Control': 'max-age=60' }, 'final');
const HINTS =
  'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-Own: 1\r\n' +
  'Connection: X-Hop\r\nX-Hop: 1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n';
const CLEAN = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-Own: 1\r\n\r\n';
const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

async function ask(
  reply: Reply,
  fields: Record<string, string> = {},
  proto = 'HTTP/1.1',
): Promise<{ url: string; interim: string[]; own: string | undefined; body: string }> {
  const url = `/interim/${urls++}`;
  origin.on(url, reply);
  return get(url, fields, proto);
}

async function get(url: string, fields: Record<string, string> = {}, proto = 'HTTP/1.1') {
  const connection = await ClientConnection.open(proxy.port);
  try {
    connection.send(requestText(url, { fields }).replace('HTTP/1.1', proto));
    const got = await connection.response();
    return { url, interim: got.interim, own: field(got, 'X-Own'), body: got.body.toString() };
  } finally {
    connection.close();
  }
}

it.each<[string, string[], string[]]>([
  ['one', [HINTS], [CLEAN]],
  ['several', [PROCESSING, HINTS, HINTS], [PROCESSING, CLEAN, CLEAN]],
  ['those of no concern to the client', [CONTINUE, PROCESSING], [PROCESSING]],
  ['no flood', Array.from({ length: 500 }, () => PROCESSING), Array.from({ length: 32 }, () => PROCESSING)],
])('passes on %s, for the fetch alone', async (_name, sent, passed) => {
  const first = await ask([{ send: sent.join('') }, ...FINAL]);
  expect(first).toMatchObject({ interim: passed, own: undefined, body: 'final' });
  expect(await get(first.url)).toMatchObject({ interim: [], own: undefined, body: 'final' });
  expect(origin.seen(first.url)).toHaveLength(1);
});

it('passes them on for what is not cached', async () => {
  expect(await ask([{ send: HINTS }, ...FINAL], { Range: 'bytes=0-0', Cookie: 'a=b' })).toMatchObject({
    interim: [CLEAN],
  });
});

it('keeps them from clients of HTTP/1.0', async () => {
  expect(await ask([{ send: HINTS }, ...FINAL], {}, 'HTTP/1.0')).toMatchObject({
    interim: [],
    body: 'final',
  });
});
