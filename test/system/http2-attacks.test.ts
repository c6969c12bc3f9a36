// Clients of HTTP/2 that attack a running proxy, while another one is served: what they cost in CPU and memory is bounded,
// each is closed with its code and counted, and afterwards nothing is held. What a connection takes of each flood is
// test/daemon/net/http2-floods.test.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Http2Client } from '../harness/http2-client.ts';
import { PREFACE, settingsFrame } from '../harness/http2-frames.ts';
import { bytesOfFrames } from '../harness/http2-notation.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, readStat, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { runs } from '../harness/runs.ts';

const box = new Sandbox('proxyd-http2-attacks');
const CALM = 11;
/** Milliseconds of CPU that a connection may cost which is closed for what it does, the other client's requests included
 * (chosen: with all checks of a proxy under test the dearest one took a quarter). */
const CPU = 1000;
const LARGE = Buffer.alloc(400_000, 'l');
let origin: Origin;
let proxy: RunningProxy;
let worker: number;
let files: number;
/** Held by the slow pages until the next is made. */
let hold = newHold();

beforeAll(async () => {
  origin = await Origin.start();
  const fine = { 'Cache-Control': 'max-age=1000' };
  origin.on('*', () => respond('200 OK', fine, 'fine\n'));
  origin.on('/large', respond('200 OK', fine, LARGE));
  const slow = () => [{ hold: hold.promise }, ...respond('200 OK', fine, 'slow\n')];
  for (const path of ['/slow', '/pass/slow', '/part', '/up']) origin.on(path, slow);
  origin.on('/page', respond('200 OK', fine, '<p><esi:include src="/part"/></p>'));
  origin.on('/pass/large', respond('200 OK', {}, Buffer.alloc(4_000_000, 'p')));
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `sub vcl_recv { if (req.url ~ "^/(pass|up)") { return (pass); } }
sub vcl_backend_response { if (bereq.url == "/page") { set beresp.do_esi = true; } }`,
    ),
    params: { feature: '+http2', timeout_idle: '5', h2_window_timeout: '2', backend_idle_timeout: '1' },
  });
  worker = proxy.workerPid() as number;
  expect((await proxy.get('/warm', { host: 'a' })).status).toBe(200);
  expect((await proxy.get('/large', { host: 'a.example' })).status).toBe(200);
  await until('the kept connection is closed', () => origin.openConnections === 0);
  files = openFiles();
});
afterAll(async () => {
  hold.resolve();
  await box.dispose();
  await origin.close();
});

function newHold(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function openFiles(): number {
  return readdirSync(`/proc/${worker}/fd`).length;
}

/** Bytes of the worker in memory. */
function resident(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${worker}/status`, 'utf8'))?.[1]) * 1024;
}

/** Milliseconds of CPU that the worker has used. */
function used(): number {
  return (readStat(worker)?.ticks ?? 0) * 10;
}

/** Nothing is left of what the attackers asked for. */
async function nothingIsHeld(): Promise<void> {
  hold.resolve();
  hold = newHold();
  expect(proxy.workerPid()).toBe(worker);
  await until('no descriptor is left', () => openFiles() <= files);
  await until('no connection is in use', async () => {
    const counters = Object.entries(await proxy.counters());
    return counters.filter(([name]) => /^VBE\..*\.conn$/.test(name)).every(([, value]) => value === 0);
  });
}

/** Runs an attack while another client asks for something and gets it; returns how often it did. What takes this process long is done
 * before it: a client that is silent for timeout_idle is closed. */
async function besides(attack: () => Promise<void>): Promise<number> {
  let answered = 0;
  let isOver = false;
  const other = await Http2Client.connect(proxy.port);
  const asks = async (): Promise<void> => {
    while (!isOver || answered === 0) {
      const { status, body } = await other.get('/warm');
      expect([status, body.toString()]).toEqual([200, 'fine\n']);
      answered++;
      await delay(5);
    }
    other.close();
  };
  const asking = asks();
  // Reported when the attack is over.
  asking.catch(() => undefined);
  try {
    await attack();
  } finally {
    isOver = true;
  }
  await asking;
  return answered;
}

async function counted(name: string): Promise<number> {
  return (await proxy.counters())[`MAIN.${name}`] ?? 0;
}

const numbered = (frames: string, count: number): Buffer =>
  bytesOfFrames(
    Array.from({ length: count }, (_, i) => frames.replaceAll('§', String(2 * i + 1))).join(' ; '),
  );

describe('a connection is closed for', () => {
  it.each([
    [
      'rapid resets of requests that an origin answers',
      'GET(§ /pass/§) ; RST_STREAM(§) #8',
      'h2_flood_reset',
    ],
    [
      'rapid resets of requests that wait for each other',
      'GET(§ /slow) ; RST_STREAM(§) #8',
      'h2_flood_reset',
    ],
    ['rapid resets of pages of fragments', 'GET(§ /page) ; RST_STREAM(§) #8', 'h2_flood_reset'],
    ['rapid resets of large answers', 'GET(§ /large) ; RST_STREAM(§) #8', 'h2_flood_reset'],
    ['resets that it provokes', 'GET(§ /pass/§) ; WINDOW_UPDATE(§) #0', 'h2_flood_error'],
    ['heads that are malformed', 'GET(§ /) {X=1}', 'h2_flood_error'],
    ['bodies of another length', 'POST(§ /up) {content-length=5} ; DATA(§ END_STREAM) 61', 'h2_flood_error'],
    ['PING', 'PING(0) "abcdefgh"', 'h2_flood_ping'],
    ['SETTINGS', 'SETTINGS(0) [4=1 4=65535]', 'h2_flood_settings'],
    ['CONTINUATION', 'HEADERS(1) 82 ; CONTINUATION(1) 82', 'h2_goaway_protocol'],
  ] as const)('%s, and costs little', async (_name, frames, counter) => {
    const before = await counted(counter);
    const cpu = used();
    const connections = 5;
    const memory = resident();
    const bytes = numbered(frames, 5000);
    await besides(async () => {
      for (let i = 0; i < connections; i++) {
        const client = await Http2Client.connect(proxy.port, { isPassive: true });
        client.send(bytes);
        const code = await client.end();
        // A connection that is closed with bytes unread is reset, which may destroy its last frame.
        if (code !== null) expect(code).toBe(counter === 'h2_goaway_protocol' ? 1 : CALM);
        client.close();
      }
    });
    expect((await counted(counter)) - before).toBe(connections);
    expect(used() - cpu).toBeLessThan(connections * CPU);
    expect(resident() - memory).toBeLessThan(150 << 20);
    await nothingIsHeld();
  });
});

describe('a stream that is reset', () => {
  /** Asks, resets once `reached`, and lets the origin go on. */
  async function leaves(path: string, reached: () => boolean, begin = 'GET'): Promise<void> {
    const client = await Http2Client.connect(proxy.port, { isPassive: true });
    client.send(bytesOfFrames(`${begin}(1 ${path}) ; WINDOW_UPDATE(0) #10000000`));
    await until('the origin is asked', reached);
    client.send(bytesOfFrames('RST_STREAM(1) #8 ; GET(3 /warm)'));
    expect((await client.response(3)).status).toBe(200);
    client.close();
  }
  const asked = (url: string, from: number) => (): boolean =>
    origin.requests.slice(from).some((each) => each.url === url);

  it.each([
    ['while its object is fetched', '/slow?alone', '/slow?alone'],
    ['while its answer passes by', '/pass/slow', '/pass/slow'],
    ['within a page', '/page', '/part'],
  ])('%s leaves the rest of its connection alone, and nothing behind', async (_name, path, seen) => {
    origin.on('/slow?alone', () => [{ hold: hold.promise }, ...respond('200 OK', {}, 'alone\n')]);
    await proxy.adm('ban', 'obj.status != 999');
    await besides(() => leaves(path, asked(seen, origin.requests.length)));
    await nothingIsHeld();
  });

  it('while it waits for the fetch of another does not disturb that one', async () => {
    origin.on('/shared', () => [
      { hold: hold.promise },
      ...respond('200 OK', { 'Cache-Control': 'max-age=9' }, 'shared\n'),
    ]);
    const first = await Http2Client.connect(proxy.port);
    const from = origin.requests.length;
    const answer = first.get('/shared');
    await until('the origin is asked', asked('/shared', from));
    await leaves('/shared', () => true);
    hold.resolve();
    expect((await answer).body.toString()).toBe('shared\n');
    first.close();
    expect(origin.requests.slice(from).filter(({ url }) => url === '/shared')).toHaveLength(1);
    await nothingIsHeld();
  });

  it('while its body waits for a window gives back what it held', async () => {
    const client = await Http2Client.connect(proxy.port, { isPassive: true });
    client.send(numbered('GET(§ /pass/large)', 20));
    await until('answers wait', () => client.soFar(39).status === 200);
    client.send(numbered('RST_STREAM(§) #8', 20));
    client.close();
    await nothingIsHeld();
  });
});

describe('a client that stalls', () => {
  it('by a window of nothing is closed, and logged in words', async () => {
    const before = await counted('sc_bankrupt');
    const client = await Http2Client.connect(proxy.port, { isPassive: true, settings: [[4, 0]] });
    await besides(async () => {
      client.send(numbered('GET(§ /large)', 100));
      expect(await client.end()).toBe(CALM);
    });
    expect((await counted('sc_bankrupt')) - before).toBe(1);
    await proxy.logged('no answer has a window', '-d', '-g', 'session', '-q', 'SessClose ~ BANKRUPT');
    client.close();
    await nothingIsHeld();
  });

  it('by uploads that nobody reads costs what its windows allow', async () => {
    const bodies = Array.from(
      { length: 100 },
      (_, i) => `POST(${2 * i + 1} /slow) ; DATA(${2 * i + 1}) 16384*00 ; DATA(${2 * i + 1}) 16384*00`,
    );
    const bytes = bytesOfFrames(bodies.join(' ; '));
    const memory = resident();
    const client = await Http2Client.connect(proxy.port, { isPassive: true });
    await besides(async () => {
      client.send(bytes);
      await delay(500);
    });
    expect(resident() - memory).toBeLessThan(100 << 20);
    client.close();
    await nothingIsHeld();
  });

  it('is one of thousands that say nothing: each is closed in time, and takes little meanwhile', async () => {
    const count = runs(10_000) < 10_000 ? 500 : 8000;
    const memory = resident();
    const sockets: Socket[] = [];
    let closed = 0;
    await besides(async () => {
      for (let i = 0; i < count; i++) {
        const socket = connect(proxy.port, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.on('close', () => closed++);
        socket.on('data', () => undefined);
        socket.write(Buffer.concat([PREFACE, settingsFrame()]));
        sockets.push(socket);
        if (i % 100 === 0) await delay(1);
      }
      await until('all are there', async () => (await counted('h2_sess')) >= count);
      expect((resident() - memory) / count).toBeLessThan(count < 1000 ? 200_000 : 40_000);
      await until('all are closed', () => closed === count);
    });
    await nothingIsHeld();
  });
});
