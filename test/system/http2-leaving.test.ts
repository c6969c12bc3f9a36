// Clients of HTTP/2 that leave in the middle of anything, by a reset of their stream or with their connection: the request
// ends and is logged, others on the same connection go on, and what is shared with others is whole for them.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Http2Client } from '../harness/http2-client.ts';
import { FRAME, frame, type Http2Request, requestFrame, uint32 } from '../harness/http2-frames.ts';
import { Origin, type Reply, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-http2-leaving');
const FRESH = { 'Cache-Control': 'max-age=100' };
const LARGE = Buffer.alloc(2_000_000, 'large ');
const CANCEL = 8;
let origin: Origin;
let proxy: RunningProxy;
let rounds = 0;

beforeAll(async () => {
  origin = await Origin.start();
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `import std;
sub vcl_recv {
  if (req.url ~ "/kept") { std.cache_req_body(2MB); return (pass); }
  if (req.url ~ "/pass") { return (pass); }
  if (req.url ~ "/synth") { return (synth(200, "Fine")); }
}
sub vcl_backend_response {
  set beresp.do_esi = bereq.url ~ "/page$";
  set beresp.do_gunzip = bereq.url ~ "/gunzip";
  set beresp.do_stream = bereq.url !~ "/whole";
}`,
    ),
    params: { feature: '+http2' },
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

interface Row {
  readonly name: string;
  readonly path: string;
  readonly request?: Http2Request;
  /** Sent of a body. */
  readonly data?: Buffer;
  /** Serves the URL; what it waits for is settled when the client has gone. */
  readonly serves?: (path: string, gone: Promise<void>) => void;
  /** Whether the object is in the cache when the client comes. */
  readonly cached?: true;
  /** It is time to leave: when the answer, or the origin, has come so far. */
  readonly when: 'asked' | 'head' | 'stalled' | 'sent';
  /** Another one gets this of the same URL afterwards. */
  readonly later?: Buffer;
}

const held = (gone: Promise<void>, reply: Reply): Reply => [{ hold: gone }, ...reply];
const half = (gone: Promise<void>, fields: string, body: Buffer): Reply => [
  { send: `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${fields}\r\n` },
  { send: body.subarray(0, body.length / 2) },
  { hold: gone },
  { send: body.subarray(body.length / 2) },
];
const POST = { method: 'POST', body: '' };
const SHORT = Buffer.from('short and whole');
const CACHED = 'Cache-Control: max-age=100\r\n';

const ROWS: readonly Row[] = [
  {
    name: 'a miss whose origin is silent',
    path: '/miss',
    when: 'asked',
    serves: (path, gone) => origin.on(path, held(gone, respond('200 OK', FRESH, SHORT))),
    later: SHORT,
  },
  {
    name: 'a pass whose origin is silent',
    path: '/pass',
    when: 'asked',
    serves: (path, gone) =>
      origin.on(path, (_, n) =>
        n > 1 ? respond('200 OK', {}, SHORT) : held(gone, respond('200 OK', {}, SHORT)),
      ),
    later: SHORT,
  },
  {
    name: 'a miss that streams',
    path: '/stream',
    when: 'head',
    serves: (path, gone) => origin.on(path, half(gone, CACHED, LARGE)),
    later: LARGE,
  },
  {
    name: 'a pass that streams',
    path: '/pass/stream',
    when: 'head',
    serves: (path, gone) =>
      origin.on(path, (_, n) => (n > 1 ? respond('200 OK', {}, SHORT) : half(gone, '', LARGE))),
    later: SHORT,
  },
  {
    name: 'a body that is fetched whole',
    path: '/whole',
    when: 'asked',
    serves: (path, gone) => origin.on(path, half(gone, CACHED, LARGE)),
    later: LARGE,
  },
  {
    name: 'a hit that the client does not take',
    path: '/hit',
    cached: true,
    when: 'stalled',
    serves: (path) => origin.on(path, respond('200 OK', FRESH, LARGE)),
    later: LARGE,
  },
  {
    name: 'a pass that the client does not take',
    path: '/pass/large',
    when: 'stalled',
    serves: (path) => origin.on(path, respond('200 OK', {}, LARGE)),
    later: LARGE,
  },
  {
    name: 'a miss that the client does not take',
    path: '/large',
    when: 'stalled',
    serves: (path) => origin.on(path, respond('200 OK', FRESH, LARGE)),
    later: LARGE,
  },
  {
    name: 'a range that the client does not take',
    path: '/range',
    cached: true,
    when: 'stalled',
    request: { fields: [['range', 'bytes=5-1500000']] },
    serves: (path) => origin.on(path, respond('200 OK', FRESH, LARGE)),
    later: LARGE,
  },
  {
    name: 'an unpacked body that the client does not take',
    path: '/unpack',
    cached: true,
    when: 'stalled',
    serves: (path) =>
      origin.on(path, respond('200 OK', { ...FRESH, 'Content-Encoding': 'gzip' }, gzipSync(LARGE))),
    later: LARGE,
  },
  {
    name: 'a page that waits for a fragment',
    path: '/page',
    when: 'asked',
    serves: (path, gone) => {
      origin.on(path, respond('200 OK', FRESH, `<p><esi:include src="${path}/part"/></p>`));
      origin.on(`${path}/part`, held(gone, respond('200 OK', FRESH, SHORT)));
    },
    later: Buffer.from(`<p>${SHORT}</p>`),
  },
  {
    name: 'a page that the client does not take',
    path: '/page',
    when: 'stalled',
    serves: (path) => {
      origin.on(
        path,
        respond('200 OK', FRESH, `<p><esi:include src="${path}/part"/><esi:include src="${path}/part"/></p>`),
      );
      origin.on(`${path}/part`, respond('200 OK', FRESH, LARGE));
    },
    later: Buffer.from(`<p>${LARGE}${LARGE}</p>`),
  },
  { name: 'an upload', path: '/pass/up', when: 'sent', request: POST, data: SHORT },
  {
    name: 'an upload with a length',
    path: '/pass/length',
    when: 'sent',
    request: { ...POST, fields: [['content-length', '100000']] },
    data: SHORT,
  },
  { name: 'an upload that a program keeps', path: '/kept', when: 'sent', request: POST, data: SHORT },
  { name: 'an upload that nobody reads', path: '/synth', when: 'sent', request: POST, data: SHORT },
];

/** Those that wait for a window get none beyond the first. */
const connect = (row: Row): Promise<Http2Client> =>
  Http2Client.connect(proxy.port, { isPassive: row.when === 'stalled' });

async function reachesIt(row: Row, path: string, client: Http2Client, stream: number): Promise<void> {
  if (row.when === 'asked') {
    await until(
      `${path} at the origin`,
      async () => origin.hasBegun(path) || origin.hasBegun(`${path}/part`) || null,
    );
    if (row.path === '/page')
      await until('the fragment at the origin', async () => origin.hasBegun(`${path}/part`) || null);
  } else if (row.when === 'head')
    await client.until(() => client.soFar(stream).body.length > 0, 'the first bytes');
  else if (row.when === 'stalled')
    await client.until(() => client.soFar(stream).body.length >= 65_535, 'a window');
  else await client.ping();
}

describe.each(ROWS.map((row) => [row.name, row] as const))('%s', (_name, row) => {
  it.each(['resets its stream', 'goes with its connection'])('is over when the client %s', async (how) => {
    const path = `/${rounds++}${row.path}`;
    let leave = (): void => {};
    row.serves?.(
      path,
      new Promise((resolve) => {
        leave = resolve;
      }),
    );
    const { request = {}, data } = row;
    if (row.cached) await (await Http2Client.connect(proxy.port)).get(path);
    const client = await connect(row);
    client.send(
      requestFrame(1, path, request),
      ...(data === undefined ? [] : [frame(FRAME.DATA, 0, 1, data)]),
    );
    await reachesIt(row, path, client, 1);
    if (how === 'resets its stream') {
      client.send(frame(FRAME.RST_STREAM, 0, 1, uint32(CANCEL)));
      await client.ping();
      // The connection and its other streams go on.
      client.send(requestFrame(3, '/synth/after'));
      if (row.when !== 'stalled') expect((await client.response(3)).status).toBe(200);
    } else client.close();
    leave();
    const log = await proxy.logged(
      /ReqAcct[\s\S]*End/,
      '-g',
      'request',
      '-q',
      `ReqURL eq "${path}" and Begin ~ "^req"`,
    );
    expect(log).toMatch(/ReqAcct/);
    client.close();
    if (row.later === undefined) return;
    const other = await Http2Client.connect(proxy.port);
    const answer = await other.get(path);
    expect(answer).toMatchObject({ status: 200, complete: true, reset: null });
    expect(answer.body.equals(row.later)).toBe(true);
    other.close();
  });
});

it('nothing of them is left', async () => {
  await until('no connection', async () => {
    const counters = await proxy.counters();
    const open = Object.entries(counters).filter(([name]) => /^THR\.\d+\.connections_open$/.test(name));
    return open.every(([, value]) => value === 0) || null;
  });
  expect(proxy.daemon.stderr).not.toMatch(/assert|panic|Error/i);
});
