// Random histories over HTTP/2: several connections ask for objects of many sizes in a store that is too small, read slowly, leave,
// purge, ban, send bodies and get fragments, while the worker is killed and programs change. Every byte that arrives is the
// one that belongs there: bodies are made of their URL and their version.
//   PROXYD_HISTORY_STEPS=5000 PROXYD_HISTORY_SEED=7   a longer history, and from another seed
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const STEPS = Number(process.env.PROXYD_HISTORY_STEPS ?? 1200);
const SEED = Number(process.env.PROXYD_HISTORY_SEED ?? 1);
const CONNECTIONS = 6;
/** Streams of a connection at a time. */
const TOGETHER = 12;
const OBJECTS = 60;

/** Mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The body of a version of an object: its name and place in each piece of 64 bytes. */
function bodyOf(path: string, version: string, length: number): Buffer {
  const mark = createHash('sha256').update(`${path} ${version}`).digest('hex');
  return Buffer.alloc(length, mark, 'latin1');
}

function lengthOf(index: number): number {
  return index % 7 === 0 ? 200_000 + index * 9_001 : 300 + index * 611;
}

/** How far `bytes` repeats the 64 bytes at `start`. */
function endOfRun(bytes: Buffer, start: number): number {
  let end = start + 1;
  while (end < bytes.length && bytes[end] === bytes[start + ((end - start) % 64)]) end++;
  return end;
}

let versions = 0;
const origin = createServer((req: IncomingMessage, res: ServerResponse) => {
  res.on('error', () => {});
  const path = req.url ?? '/';
  if (req.method === 'POST') {
    const hash = createHash('sha256');
    req.on('data', (piece: Buffer) => hash.update(piece));
    req.on('end', () => res.end(hash.digest('hex')));
    return;
  }
  if (path.startsWith('/page')) {
    res.setHeader('x-esi', '1');
    res.end('<esi:include src="/object1"/><esi:include src="/object3"/>');
    return;
  }
  const length = lengthOf(Number(/\d+/.exec(path)?.[0] ?? 0));
  const version = String(++versions);
  res.setHeader('x-version', version);
  res.setHeader('x-length', String(length));
  const body = bodyOf(path, version, length);
  // Some come in pieces, without a length.
  if (versions % 3 === 0) {
    res.write(body.subarray(0, length >> 1));
    setTimeout(() => res.end(body.subarray(length >> 1)), 5);
  } else {
    res.setHeader('Content-Length', length);
    res.end(body);
  }
});

const box = new Sandbox('proxyd-http2-histories');
let port = 0;

beforeAll(async () => {
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  ({ port } = origin.address() as AddressInfo);
});
afterAll(async () => {
  await box.dispose();
  origin.closeAllConnections();
  origin.close();
});

interface Tally {
  whole: number;
  cut: number;
}

/** One connection with several streams at a time, made anew when it has gone. */
class Client {
  private session: ClientHttp2Session | null = null;
  private readonly proxy: RunningProxy;
  private readonly rand: () => number;
  readonly tally: Tally = { whole: 0, cut: 0 };
  readonly wrong: string[] = [];

  constructor(proxy: RunningProxy, seed: number) {
    this.proxy = proxy;
    this.rand = random(seed);
  }

  async run(steps: number): Promise<void> {
    let left = steps;
    const one = async (): Promise<void> => {
      while (left-- > 0) await this.step();
    };
    await Promise.all(Array.from({ length: TOGETHER }, one));
    this.session?.destroy();
  }

  private connection(): ClientHttp2Session {
    if (this.session !== null && !this.session.closed && !this.session.destroyed) return this.session;
    const session = connect(`http://127.0.0.1:${this.proxy.port}`);
    session.on('error', () => {});
    session.on('goaway', () => session.close());
    this.session = session;
    return session;
  }

  private async step(): Promise<void> {
    const dice = this.rand();
    const object = `/object${Math.floor(this.rand() * OBJECTS)}`;
    if (dice < 0.06) await this.ask(object, 'PURGE');
    else if (dice < 0.12) await this.post();
    else if (dice < 0.2) await this.page();
    else if (dice < 0.28) await this.leave(object);
    else await this.get(object, this.rand() < 0.15);
  }

  private request(path: string, method: string, more: Record<string, string> = {}): ClientHttp2Stream | null {
    try {
      const stream = this.connection().request(
        { ':path': path, ':method': method, ...more },
        { endStream: method !== 'POST' },
      );
      stream.on('error', () => {});
      return stream;
    } catch {
      // The connection has just gone.
      return null;
    }
  }

  /** The head and, as far as it came, the body; `complete` when its end came. */
  private async read(stream: ClientHttp2Stream, slowly = false) {
    const pieces: Buffer[] = [];
    let fields: Record<string, unknown> = {};
    let complete = false;
    stream.on('response', (head) => {
      fields = head;
    });
    stream.on('end', () => {
      complete = stream.rstCode === 0;
    });
    stream.on('data', (piece: Buffer) => {
      pieces.push(piece);
      if (!slowly) return;
      stream.pause();
      setTimeout(() => stream.resume(), 3);
    });
    await new Promise<void>((resolve) => stream.once('close', resolve));
    return { status: Number(fields[':status'] ?? 0), fields, body: Buffer.concat(pieces), complete };
  }

  private async ask(path: string, method: string): Promise<void> {
    const stream = this.request(path, method);
    if (stream !== null) await this.read(stream);
    else await sleep(5);
  }

  private async get(path: string, slowly: boolean): Promise<void> {
    const stream = this.request(path, 'GET');
    if (stream === null) {
      await sleep(5);
      return;
    }
    const { status, fields, body, complete } = await this.read(stream, slowly);
    if (status !== 200) {
      this.tally.cut++;
      return;
    }
    const length = Number(fields['x-length']);
    const right = bodyOf(path, String(fields['x-version']), length);
    if (complete ? !body.equals(right) : !right.subarray(0, body.length).equals(body))
      this.wrong.push(`${path} ${fields['x-version']}: ${body.length} of ${length}, ${complete}`);
    if (complete) this.tally.whole++;
    else this.tally.cut++;
  }

  /** Two fragments one behind the other, of whatever versions. As in Varnish one for which the room ran out, before it
   * began or in the middle, is left out or cut, and the page goes on. */
  private async page(): Promise<void> {
    const stream = this.request('/page', 'GET');
    if (stream === null) return;
    const { status, body, complete } = await this.read(stream);
    if (status !== 200 || !complete) return;
    const [first, second] = [lengthOf(1), lengthOf(3)];
    const end = endOfRun(body, 0);
    if (end >= body.length) {
      if (body.length > Math.max(first, second)) this.wrong.push(`/page: one of ${body.length}`);
      return;
    }
    // The second one may begin with the digit that would have been next.
    const isRight = Array.from({ length: 64 }, (_, back) => end - back).some(
      (cut) => cut > 0 && cut <= first && body.length - cut <= second && endOfRun(body, cut) === body.length,
    );
    if (!isRight) this.wrong.push(`/page: ${body.length}, the first up to ${end}`);
  }

  private async leave(path: string): Promise<void> {
    const stream = this.request(path, 'GET');
    if (stream === null) return;
    const over = this.read(stream);
    setTimeout(() => stream.close(8), this.rand() * 8);
    await over;
  }

  private async post(): Promise<void> {
    const stream = this.request('/upload', 'POST');
    if (stream === null) return;
    const sent = Buffer.alloc(Math.floor(this.rand() * 200_000), `upload ${this.rand()}`);
    const over = this.read(stream);
    stream.end(sent);
    const { status, body, complete } = await over;
    const right = createHash('sha256').update(sent).digest('hex');
    if (status === 200 && complete && body.toString() !== right) this.wrong.push(`/upload of ${sent.length}`);
  }
}

const PROGRAM = `
  sub vcl_recv {
    if (req.method == "PURGE") { return (purge); }
    if (req.method == "POST") { return (pass); }
  }
  sub vcl_backend_response {
    set beresp.ttl = 20s;
    if (beresp.http.x-esi) { set beresp.do_esi = true; }
  }`;

describe.each([1, 4])('with %i threads', (threads) => {
  it(`every body is the one that was asked for (seed ${SEED})`, { timeout: 300_000 }, async () => {
    const program = backendProgram(port, PROGRAM);
    const proxy = await startProxy(box, {
      program,
      params: { feature: '+http2', worker_threads: String(threads), h2_rapid_reset_limit: '0' },
      storage: ['malloc,3m'],
    });
    const clients = Array.from({ length: CONNECTIONS }, (_, i) => new Client(proxy, SEED * 100 + i));
    const runs = clients.map((client) => client.run(STEPS / CONNECTIONS));
    let running = true;
    const done = { bans: 0, programs: 0 };
    const disturb = async (): Promise<void> => {
      const rand = random(SEED);
      for (let n = 0; running; n++) {
        await sleep(150);
        // The worker is killed on the way: what is refused meanwhile does not count.
        const ban = await proxy.adm('ban', `req.url ~ ^/object${Math.floor(rand() * 10)}`);
        if (ban.code === 0) done.bans++;
        if (n % 4 === 1) {
          const load = await proxy.adm(`vcl.inline p${n} << EOT\n${program}\nEOT`);
          const use = await proxy.adm('vcl.use', `p${n}`);
          if (load.code === 0 && use.code === 0) done.programs++;
        }
      }
    };
    const disturbing = disturb();
    await sleep(500);
    const before = proxy.workerPid();
    if (before === null) throw new Error('there is no worker');
    process.kill(before, 'SIGKILL');
    await until('another worker', () => ![before, null].includes(proxy.workerPid()));
    await Promise.all(runs);
    running = false;
    await disturbing;
    expect(Math.min(done.bans, done.programs)).toBeGreaterThan(0);
    expect(clients.flatMap(({ wrong }) => wrong)).toEqual([]);
    const whole = clients.reduce((sum, { tally }) => sum + tally.whole, 0);
    expect(whole).toBeGreaterThan(STEPS / 4);
  });
});
