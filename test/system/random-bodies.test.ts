// Bodies of every size and kind at once, in random pieces: kept and passed, ranges of both, framed by length and in
// chunks, packed, in pages that include them and on their way up; clients that read slowly and that leave, over TCP and
// Unix sockets. Each answer is whole and the right one, and none waits for ever.
//   PROXYD_BODIES=20000 PROXYD_BODIES_SEED=7   more of them, and others
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Random } from '../fuzz/random.ts';
import { ClientConnection, field } from '../harness/http-client.ts';
import { delay, PATIENCE, Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const COUNT = Number(process.env.PROXYD_BODIES ?? 800);
const SEED = Number(process.env.PROXYD_BODIES_SEED ?? 1);
const AT_ONCE = 40;
/** Around the limits of blocks, windows and slices, and far beyond. */
const SIZES = [0, 1, 100, 5000, 16_376, 17_000, 65_536, 100_000, 262_144, 500_000, 1_000_000, 3_000_001];
const NOISE = noise(SIZES.at(-1) as number);

const box = new Sandbox('proxyd-bodies');
const LISTENER = `${box.dir}/listener`;
// A client that leaves ends an upload early.
const origin = createServer((req, res) => void answer(req, res).catch(() => res.destroy()));
let proxy: RunningProxy;

beforeAll(async () => {
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  proxy = await startProxy(box, {
    program: backendProgram(
      port,
      `
sub vcl_recv {
  if (req.url ~ "-[a-z]*p") { return (pass); }
}
sub vcl_backend_response {
  if (bereq.url ~ "-[a-z]*w") { set beresp.do_stream = false; }
  if (bereq.url ~ "-[a-z]*z") { set beresp.do_gzip = true; }
  if (bereq.url ~ "-[a-z]*u") { set beresp.do_gunzip = true; }
  if (bereq.url ~ "^/page") { set beresp.do_esi = true; }
}`,
    ),
    // Room for all that are in use at once.
    storage: ['malloc,600m'],
    args: ['-a', LISTENER],
  });
});

afterAll(async () => {
  origin.closeAllConnections();
  origin.close();
  await box.dispose();
});

/** `/NUMBER-SIZE-FLAGS`, or `/page-` before any number of those. c: chunks; g: packed; s: slow. */
interface Wanted {
  number: number;
  size: number;
  flags: string;
}

const urlOf = ({ number, size, flags }: Wanted): string => `/${number}-${size}-${flags}`;
const bodyOf = ({ number, size }: Wanted): Buffer => NOISE.subarray(number % 997, (number % 997) + size);

function wantedBy(url: string): Wanted {
  const [number, size, flags = ''] = url.slice(1).split('-');
  return { number: Number(number), size: Number(size), flags };
}

/** Does not heed backpressure, and sends pieces as they come to it. */
async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { url = '' } = req;
  const random = new Random(SEED + url.length + Number(/\d+/.exec(url)?.[0]));
  res.on('error', () => {});
  req.on('error', () => {});
  res.setHeader('Cache-Control', 'max-age=3600');
  if (req.method === 'POST') {
    const pieces: Buffer[] = [];
    for await (const piece of req.on('error', () => {})) pieces.push(piece as Buffer);
    res.end(Buffer.concat(pieces));
    return;
  }
  if (url.startsWith('/page-')) {
    const parts = url.slice(6).split('.');
    res.end(parts.map((part) => `<esi:include src="/${part}"/>`).join('\n'));
    return;
  }
  const wanted = wantedBy(url);
  const packed = wanted.flags.includes('g');
  const body = packed ? gzipSync(bodyOf(wanted), { level: 1 }) : bodyOf(wanted);
  if (packed) res.setHeader('Content-Encoding', 'gzip');
  if (!wanted.flags.includes('c')) res.setHeader('Content-Length', body.length);
  const slow = wanted.flags.includes('s');
  for (let at = 0; at < body.length && !res.destroyed; ) {
    const piece = body.subarray(at, at + 1 + random.below(slow ? 200_000 : 60_000));
    res.write(piece);
    at += piece.length;
    if (slow && random.chance(0.3)) await delay(3);
    else await new Promise(setImmediate);
  }
  res.end();
}

/** One request and its outcome: '' if correct. */
async function ask(random: Random, number: number): Promise<string> {
  const make = (kinds: readonly string[]): Wanted => ({
    // Some are asked for again.
    number: random.chance(0.5) ? random.below(50) : 1000 + number,
    size: random.pick(SIZES),
    flags: random.pick(kinds) + random.pick(['', '', 'c', 's', 'cs']),
  });
  const kind = random.pick(['get', 'get', 'get', 'range', 'range', 'post', 'page']);
  const wanted = make(['n', 'n', 'p', 'p', 'w', 'z', 'g', 'u', 'pg', 'pu', 'pz', 'gu']);
  let whole = bodyOf(wanted);
  let head = `GET ${urlOf(wanted)} HTTP/1.1\r\nHost: x\r\n`;
  let from = 0;
  let to = wanted.size;
  let upload: Buffer | null = null;
  if (kind === 'range' && wanted.size > 1) {
    from = random.below(wanted.size);
    to = from + 1 + random.below(wanted.size - from);
    head += `Range: bytes=${from}-${to - 1}\r\n`;
  } else if (kind === 'post') {
    upload = whole;
    head = `POST ${urlOf(wanted)} HTTP/1.1\r\nHost: x\r\nContent-Length: ${whole.length}\r\n`;
  } else if (kind === 'page') {
    const parts = [0, 1, 2].map(() => make(['n', 'p', 'w', 'ps', 'z', 'g']));
    head = `GET /page-${parts.map((part) => urlOf(part).slice(1)).join('.')} HTTP/1.1\r\nHost: x\r\n`;
    whole = Buffer.concat(parts.flatMap((part, i) => [Buffer.from(i === 0 ? '' : '\n'), bodyOf(part)]));
  }
  if (random.chance(0.3)) head += 'Connection: close\r\n';
  const slow = random.chance(0.2);
  const leaves = random.chance(0.1);
  const about = `${head.split('\r\n', 1)[0]} ${kind} ${from}-${to}${slow ? ' slow' : ''}`;
  const client = await ClientConnection.open(random.chance(0.5) ? proxy.port : LISTENER, PATIENCE);
  const { socket } = client;
  let over = false;
  if (slow) {
    socket.on('data', () => {
      if (over) return;
      client.pause();
      setTimeout(() => client.resume(), random.below(20));
    });
  }
  try {
    client.send(`${head}\r\n`);
    if (upload !== null) {
      for (let at = 0; at < upload.length; at += 100_000) {
        client.send(upload.subarray(at, at + 100_000));
        if (random.chance(0.3)) await delay(2);
      }
    }
    if (leaves) {
      await new Promise((resolve) => socket.once('data', resolve));
      return '';
    }
    const got = await client.response();
    const part = got.status === 206 ? whole.subarray(from, to) : whole;
    if (got.status !== 200 && got.status !== 206) return `${about}: status ${got.status}`;
    if (got.status === 206 && field(got, 'Content-Range') !== `bytes ${from}-${to - 1}/${wanted.size}`) {
      return `${about}: ${field(got, 'Content-Range')}`;
    }
    if (!got.complete) return `${about}: broken off at ${got.body.length} of ${part.length}`;
    return got.body.equals(part) ? '' : `${about}: ${got.body.length} other bytes, ${part.length} expected`;
  } catch (error) {
    return `${about}: ${(error as Error).message.slice(0, 100)}`;
  } finally {
    over = true;
    client.close();
  }
}

it(`gives ${COUNT} answers whole (seed ${SEED})`, { timeout: PATIENCE + COUNT * 500 }, async () => {
  const faults: string[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < COUNT && faults.length < 20) {
      const number = next++;
      const fault = await ask(new Random(SEED * 1_000_003 + number), number);
      if (fault !== '') faults.push(`${number}: ${fault}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  expect(faults).toEqual([]);
});

/** Does not pack well, so that its packed form is long, too. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length + 1000);
  for (let i = 0, x = 1; i < bytes.length; i++) {
    x = (Math.imul(x, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
}
