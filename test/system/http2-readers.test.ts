// A hundred streams of one connection of HTTP/2 of which half are never read: the others bring all of their bodies, and what
// waits for the client waits at the origin, not in memory.
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Http2Client } from '../harness/http2-client.ts';
import { FRAME, requestFrame, windowUpdate } from '../harness/http2-frames.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const MEGABYTE = 1_000_000;
const BODY = Buffer.alloc(1.5 * MEGABYTE, 'body ');
const STREAMS = 100;
const WINDOW = 65_535;
const box = new Sandbox('proxyd-http2-readers');
const SMALL = BODY.subarray(0, 40_000);
const origin = createServer(({ url = '' }, res: ServerResponse) => {
  res.on('error', () => {});
  const body = url.startsWith('/small') ? SMALL : BODY;
  if (url.includes('urgent')) res.setHeader('Priority', 'u=0');
  res.setHeader('Content-Length', body.length);
  res.end(body);
});
let proxy: RunningProxy;

beforeAll(async () => {
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  proxy = await startProxy(box, {
    program: backendProgram(
      port,
      `sub vcl_recv { if (req.url ~ "^/pass") { return (pass); } }
       sub vcl_backend_response { set beresp.ttl = 100s; }`,
    ),
    params: { feature: '+http2', idle_send_timeout: '300', h2_window_timeout: '300' },
    storage: ['malloc,64m'],
  });
});
afterAll(async () => {
  await box.dispose();
  origin.closeAllConnections();
  origin.close();
});

/** Streams of one connection; those of odd places are never given more than their first window. */
async function ask(
  pathOf: (i: number) => string,
): Promise<{ read: number[]; unread: number[]; client: Http2Client }> {
  const client = await Http2Client.connect(proxy.port, { isPassive: true });
  const ids = Array.from({ length: STREAMS }, (_, i) => 2 * i + 1);
  const isRead = (id: number): boolean => (id - 1) % 4 === 0;
  const got = new Map(ids.map((id) => [id, 0]));
  let seen = 0;
  client.socket.on('data', () => {
    const updates: Buffer[] = [];
    for (; seen < client.frames.length; seen++) {
      const { type, stream, payload } = client.frames[seen] as (typeof client.frames)[number];
      if (type !== FRAME.DATA || payload.length === 0) continue;
      got.set(stream, (got.get(stream) as number) + payload.length);
      updates.push(windowUpdate(0, payload.length));
      if (isRead(stream)) updates.push(windowUpdate(stream, payload.length));
    }
    client.send(...updates);
  });
  // The connection as a whole is never what they wait for.
  client.send(windowUpdate(0, 2 ** 30), ...ids.map((id, i) => requestFrame(id, pathOf(i))));
  const read = ids.filter(isRead);
  await Promise.all(read.map((id) => client.response(id)));
  return {
    read: read.map((id) => got.get(id) as number),
    unread: ids.filter((id) => !isRead(id)).map((id) => got.get(id) as number),
    client,
  };
}

const memory = (): number =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${proxy.workerPid()}/status`, 'latin1'))?.[1]) / 1000;

it.each([
  ['passes', (i: number) => `/pass/${i}`],
  ['hits of one object', () => '/hit'],
])('%s', async (_what, pathOf) => {
  await (await Http2Client.connect(proxy.port)).get(pathOf(0));
  const before = memory();
  const { read, unread, client } = await ask(pathOf);
  expect(new Set(read)).toEqual(new Set([BODY.length]));
  expect(new Set(unread)).toEqual(new Set([WINDOW]));
  // 75 megabytes wait, and as many have passed.
  expect(memory() - before).toBeLessThan(60);
  client.close();
});

it('get first what the origin calls urgent, of what waits for the same window', async () => {
  const client = await Http2Client.connect(proxy.port, { isPassive: true });
  // The third and later hits of an object by one thread take a shorter way.
  for (let i = 0; i < 5; i++) {
    for (const path of ['/small/urgent', '/small/usual']) {
      await client.get(path);
      client.send(windowUpdate(0, SMALL.length));
    }
  }
  // Others have used the window up before.
  const first = [client.begin('/small/blocker'), client.begin('/small/blocker')];
  const got = (): number =>
    client.frames.reduce((sum, { type, payload }) => sum + (type === FRAME.DATA ? payload.length : 0), 0);
  const gotBefore = 10 * SMALL.length;
  await client.until(() => got() === gotBefore + WINDOW, 'a window of bytes');
  const before = client.frames.length;
  const usual = client.begin('/small/usual');
  const urgent = client.begin('/small/urgent');
  const all = [...first, usual, urgent];
  for (const stream of all) await client.frame(FRAME.HEADERS, stream);
  client.send(windowUpdate(0, 1_000_000));
  for (const stream of all) expect((await client.response(stream)).body.equals(SMALL)).toBe(true);
  const later = client.frames.slice(before);
  const sent = later.filter(({ type }) => type === FRAME.DATA).map(({ stream }) => stream);
  expect(sent.lastIndexOf(urgent)).toBeLessThan(sent.indexOf(usual));
  client.close();
});
