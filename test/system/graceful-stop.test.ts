// A worker that is stopped finishes what it has begun: over HTTP/1 and HTTP/2, on all threads, for as long as stop_timeout says.
// Nobody waits for the others: connections that are idle are closed, and new ones refused.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ClientConnection, field } from '../harness/http-client.ts';
import { Http2Client } from '../harness/http2-client.ts';
import { FLAG, FRAME } from '../harness/http2-frames.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-graceful-stop');
const ALL_STREAMS = 0x7fffffff;
const REFUSED_STREAM = 7;
const LARGE = Buffer.alloc(8_000_000, 'large ');
let origin: Origin;
let proxy: RunningProxy;
const clients: { close(): void }[] = [];

const PROGRAM = `sub vcl_recv {
  if (req.url ~ "/pipe") { return (pipe); }
  if (req.url ~ "/pass") { return (pass); }
}`;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('/quick', respond('200 OK', { 'Cache-Control': 'max-age=1000' }, 'quick'));
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, PROGRAM),
    params: { feature: '+http2', stop_timeout: '60', worker_threads: '3', timeout_idle: '60' },
  });
});
beforeEach(async () => {
  if ((await proxy.adm('status')).stdout !== 'Child in state running\n') await proxy.adm('start');
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await proxy.adm('param.set', 'stop_timeout', '60');
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

async function client(): Promise<ClientConnection> {
  const made = await ClientConnection.open(proxy.port);
  clients.push(made);
  return made;
}

async function client2(): Promise<Http2Client> {
  const made = await Http2Client.connect(proxy.port);
  clients.push(made);
  return made;
}

/** A reply that waits until it is let go. */
function held(path: string, ...reply: Parameters<typeof respond>): () => void {
  let release = (): void => undefined;
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  origin.on(path, [{ hold }, ...respond(...reply)]);
  return () => release();
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const begun = (path: string): Promise<unknown> => until(`${path} asked for`, () => origin.hasBegun(path));
const state = async (): Promise<string> => (await proxy.adm('status')).stdout.trim();
const waiting = (requests: string): Promise<unknown> =>
  until(
    `waiting for ${requests}`,
    async () => (await state()) === `Child in state stopping, waiting for ${requests}`,
  );

describe('a worker that is stopped', () => {
  it('finishes the request under way, says that the connection ends, and takes no other', async () => {
    const release = held('/pass/one', '200 OK', {}, 'finished');
    const [busy, idle] = [await client(), await client()];
    idle.send(get('/quick'));
    expect((await idle.response()).body.toString()).toBe('quick');
    busy.send(get('/pass/one'));
    await begun('/pass/one');
    const stopped = proxy.adm('stop');
    await waiting('1 request');
    await idle.rest();
    // Its other threads may stop listening a little later than the one that waits.
    await until('no other connection', () =>
      ClientConnection.open(proxy.port).then(
        (other) => {
          other.close();
          return null;
        },
        (error: Error) => error.message.includes('ECONNREFUSED') || null,
      ),
    );
    expect((await proxy.adm('start')).stdout + (await proxy.adm('status', '-j')).stdout).toMatch(
      /state stopping.*"stopping"/s,
    );
    release();
    const answer = await busy.response();
    expect([answer.body.toString(), field(answer, 'connection')]).toEqual(['finished', 'close']);
    expect(await busy.closedByPeer()).toBe(true);
    expect((await stopped).code).toBe(0);
    expect(await state()).toBe('Child in state stopped');
    expect((await proxy.adm('event.list')).stdout).toMatch(
      /Child \(\d+\) stops, waiting for 1 request \(at most 60 s: stop_timeout\)/,
    );
  });

  it('answers the first request of a connection that has just been made', async () => {
    const release = held('/pass/first', '200 OK');
    const [busy, late] = [await client(), await client()];
    busy.send(get('/pass/first'));
    await begun('/pass/first');
    await proxy.connectionsOpen(2);
    const stopped = proxy.adm('stop');
    await waiting('1 request');
    late.send(get('/quick'));
    const answer = await late.response();
    expect([answer.status, field(answer, 'connection')]).toEqual([200, 'close']);
    release();
    await stopped;
  });

  it('ends at once where nobody waits for anything', async () => {
    const idle = await client();
    idle.send(get('/quick'));
    await idle.response();
    const began = performance.now();
    await proxy.adm('stop');
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await idle.closedByPeer()).toBe(true);
  });

  it('sends GOAWAY to clients of HTTP/2 twice, and finishes their streams', async () => {
    const release = held('/pass/two', '200 OK', {}, 'streamed');
    const busy = await client2();
    const stream = busy.begin('/pass/two');
    await begun('/pass/two');
    const stopped = proxy.adm('stop');
    await until('two GOAWAY', () => busy.frames.filter(({ type }) => type === FRAME.GOAWAY).length === 2);
    expect((await busy.get('/quick')).reset).toBe(REFUSED_STREAM);
    release();
    expect((await busy.response(stream)).body.toString()).toBe('streamed');
    expect(await busy.end()).toBe(0);
    const reported = busy.frames.filter(
      ({ type, flags }) => type === FRAME.GOAWAY || (type === FRAME.PING && flags !== FLAG.ACK),
    );
    expect(reported.map(({ type, payload }) => [type, payload.readUInt32BE(0)])).toEqual([
      [FRAME.GOAWAY, ALL_STREAMS],
      [FRAME.PING, expect.anything()],
      [FRAME.GOAWAY, stream],
    ]);
    expect((await stopped).code).toBe(0);
  });

  it('ends idle connections of HTTP/2', async () => {
    const idle = await client2();
    await idle.get('/quick');
    await proxy.adm('stop');
    expect(await idle.end()).toBe(0);
    expect(idle.frames.filter(({ type }) => type === FRAME.GOAWAY)).toHaveLength(2);
  });

  it('keeps pipes open until they end', async () => {
    const release = held('/pipe/ends', '200 OK', { Connection: 'close' }, 'piped');
    const piped = await client();
    piped.send(get('/pipe/ends'));
    await begun('/pipe/ends');
    const stopped = proxy.adm('stop');
    await waiting('1 request');
    release();
    expect((await piped.response()).body.toString()).toBe('piped');
    piped.finish();
    expect((await stopped).code).toBe(0);
  });

  it('cuts the rest after stop_timeout, and reports it', async () => {
    await proxy.adm('param.set', 'stop_timeout', '0.5');
    const never = held('/pipe/never', '200 OK');
    const [piped, streams] = [await client(), await client2()];
    piped.send(get('/pipe/never'));
    await begun('/pipe/never');
    const endless = held('/pass/never', '200 OK');
    const stream = streams.begin('/pass/never');
    await begun('/pass/never');
    expect((await proxy.adm('stop')).code).toBe(0);
    await Promise.all([piped.rest().catch(() => null), streams.end()]);
    expect(streams.soFar(stream).complete).toBe(false);
    expect((await proxy.adm('event.list')).stdout).toMatch(
      /Child \(\d+\) was stopped with 2 requests under way after 0\.5 s \(stop_timeout\)/,
    );
    never();
    endless();
  });

  it('waits for nobody with stop_timeout 0, as in Varnish 7.1', async () => {
    await proxy.adm('param.set', 'stop_timeout', '0');
    const never = held('/pass/nobody', '200 OK');
    const cut = await client();
    cut.send(get('/pass/nobody'));
    await begun('/pass/nobody');
    expect((await proxy.adm('stop')).code).toBe(0);
    await cut.rest().catch(() => null);
    never();
  });

  it('sends slow readers all that they were promised', async () => {
    origin.on('/pass/large', respond('200 OK', {}, LARGE));
    const [slow, slow2] = [await client(), await client2()];
    slow.pause();
    slow.send(get('/pass/large'));
    await begun('/pass/large');
    const stream = slow2.begin('/pass/large');
    await slow2.frame(FRAME.DATA, stream);
    slow2.socket.pause();
    const stopped = proxy.adm('stop');
    await waiting('2 requests');
    slow.resume();
    slow2.socket.resume();
    expect((await slow2.response(stream)).body.equals(LARGE)).toBe(true);
    expect((await slow.response()).body.equals(LARGE)).toBe(true);
    expect((await stopped).code).toBe(0);
  });

  it('does not wait for clients that leave', async () => {
    const release = held('/pass/left', '200 OK');
    const [one, two] = [await client(), await client2()];
    one.send(get('/pass/left'));
    two.begin('/pass/left');
    await begun('/pass/left');
    const stopped = proxy.adm('stop');
    await waiting('2 requests');
    one.reset();
    two.socket.resetAndDestroy();
    release();
    expect((await stopped).code).toBe(0);
  });

  it('finishes requests on all threads, and closes thousands of idle connections', async () => {
    const idle = await Promise.all(Array.from({ length: 5000 }, () => client()));
    for (const each of idle) each.send(get('/quick'));
    for (const each of idle) await each.response();
    const release = held('/pass/many', '200 OK', {}, 'many');
    const busy = idle.splice(0, 30);
    for (const each of busy) each.send(get('/pass/many'));
    await until('all ask', () => origin.openConnections >= 30);
    const stopped = proxy.adm('stop');
    await waiting('30 requests');
    for (const each of idle) await each.rest();
    release();
    for (const each of busy) expect((await each.response()).body.toString()).toBe('many');
    expect((await stopped).code).toBe(0);
  });
});

it('a daemon that gets SIGTERM does the same, and a second SIGTERM ends it at once', async () => {
  const other = await startProxy(box, {
    program: backendProgram(origin.port, PROGRAM),
    params: { stop_timeout: '600' },
    dir: box.path('second'),
  });
  const never = held('/pass/term', '200 OK');
  const busy = await ClientConnection.open(other.port);
  clients.push(busy);
  busy.send(get('/pass/term'));
  await begun('/pass/term');
  other.daemon.child.kill('SIGTERM');
  await until('it waits', () => other.daemon.stderr.includes('waiting for 1 request'));
  expect(other.daemon.running).toBe(true);
  expect(busy.ended).toBe(false);
  expect(await other.stop()).toMatchObject({ code: 0 });
  never();
});
