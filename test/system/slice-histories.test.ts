// Random histories of objects in slices: ranges, new versions, purges, bans, evictions, broken answers, clients that leave,
// on one and on several threads, in memory and on disk. Whatever happens, bytes are those of the version that their head names,
// at the place that it names; a response that is not whole says so. PROXYD_SLICES_SEED=7 plays other histories.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../fuzz/random.ts';
import { field, type Response } from '../harness/http-client.ts';
import { Origin, type Reply, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const SEED = Number(process.env.PROXYD_SLICES_SEED ?? 1);
const OPS = Number(process.env.PROXYD_SLICES_OPS ?? 600);
const box = new Sandbox('proxyd-slice-histories');

const SIZES = [0, 900, 16_384, 40_000, 150_000, 700_000];
const bodies = new Map<string, Buffer>();

/** Every four bytes say which file, which version and which place they are. */
function bodyOf(file: number, version: number): Buffer {
  const key = `${file} ${version}`;
  const known = bodies.get(key);
  if (known !== undefined) return known;
  const body = Buffer.alloc(SIZES[file] as number);
  for (let at = 0; at + 4 <= body.length; at += 4)
    body.writeUInt32LE((((version & 255) << 24) | (file << 20) | (at >> 2)) >>> 0, at);
  bodies.set(key, body);
  return body;
}

const PROGRAM = `
import std;
sub vcl_recv {
  set req.slice = std.bytes(req.http.X-Slice, 0B);
  if (req.http.X-Slice == "parts") { set req.parts = true; }
  unset req.http.X-Slice;
  if (req.method == "PURGE") { return (purge); }
  if (req.method == "BAN") { ban("obj.http.X-File == " + req.url); return (synth(200)); }
}
sub vcl_backend_response {
  set beresp.http.X-File = bereq.url;
  set beresp.ttl = 0.2s;
  set beresp.grace = 0.1s;
  set beresp.keep = 10s;
}
`;

describe.each([
  ['one thread', '1', ['malloc,64m']],
  ['three threads, a small store', '3', ['malloc,3m']],
  ['one thread and a disk', '1', ['malloc,3m', `disk,${box.path('tier')},64m`]],
] as const)('%s', (_, threads, storage) => {
  let origin: Origin;
  let proxy: RunningProxy;
  const versions = SIZES.map(() => 1);
  const dice = new Random(SEED);
  let trouble = 0;

  beforeAll(async () => {
    origin = await Origin.start();
    origin.on('*', ({ url, head }) => {
      const file = Number(url.slice(1));
      const version = versions[file] as number;
      const body = bodyOf(file, version);
      const etag = `"${file}-${version}"`;
      const fields: Record<string, string> = { ETag: etag, 'X-Version': String(version) };
      const luck = trouble === 0 ? 99 : dice.below(100);
      if (luck < 2) return respond('500 Internal Server Error', {}, 'sorry');
      if (luck < 3) return [{ reset: true }];
      const ask = (name: string): string | undefined =>
        new RegExp(`^${name}: *(.*?)\\r?$`, 'im').exec(head)?.[1];
      if (ask('If-None-Match') === etag) return respond('304 Not Modified', fields);
      const range = /^range: bytes=(\d+)-(\d+)/im.exec(head);
      const condition = ask('If-Range');
      let reply: Reply;
      if (range === null || luck < 5 || (condition !== undefined && condition !== etag))
        reply = respond('200 OK', fields, body);
      else {
        const from = Number(range[1]);
        const to = Math.min(body.length, Number(range[2]) + 1);
        if (from >= body.length)
          return respond('416 Range Not Satisfiable', { 'Content-Range': `bytes */${body.length}` });
        fields['Content-Range'] = `bytes ${from}-${to - 1}/${body.length}`;
        reply = respond('206 Partial Content', fields, body.subarray(from, to));
      }
      if (luck >= 8) return reply;
      const [{ send }] = reply as readonly [{ send: Buffer }];
      return [{ send: send.subarray(0, dice.below(send.length)) }, { close: true }];
    });
    proxy = await startProxy(box, {
      program: backendProgram(origin.port, PROGRAM),
      params: { worker_threads: threads, http_multi_range: 'on' },
      storage: [...storage],
    });
  });
  afterAll(async () => {
    await proxy.stop();
    await origin.close();
  });

  /** Sees to it that each byte is what the head says. Returns whether the response was whole. */
  function judge(file: number, r: Response): boolean {
    if (r.status === 500 || r.status === 503) return true;
    const [, of, version] = /^"(\d+)-(\d+)"$/.exec(field(r, 'ETag') ?? '') ?? [];
    const body = bodyOf(file, Number(version));
    if (r.status === 416) {
      expect(field(r, 'Content-Range')).toBe(`bytes */${body.length}`);
      return true;
    }
    expect([Number(of), field(r, 'X-Version')]).toEqual([file, version]);
    if (/^multipart/.test(field(r, 'Content-Type') ?? '')) {
      if (r.complete)
        for (const part of partsOf(r))
          expect(part.bytes.equals(body.subarray(part.from, part.to))).toBe(true);
      return r.complete;
    }
    const [, low, high, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(field(r, 'Content-Range') ?? '') ?? [];
    expect([r.status, total ?? String(body.length)]).toEqual([
      low === undefined ? 200 : 206,
      String(body.length),
    ]);
    const from = Number(low ?? 0);
    const to = high === undefined ? body.length : Number(high) + 1;
    expect(r.body.length).toBeLessThanOrEqual(to - from);
    if (r.complete) expect(r.body.length).toBe(to - from);
    expect(r.body.equals(body.subarray(from, from + r.body.length))).toBe(true);
    return r.complete;
  }

  async function step(): Promise<boolean> {
    const file = dice.below(SIZES.length);
    const url = `/${file}`;
    const size = SIZES[file] as number;
    const what = dice.below(100);
    if (what < 4) {
      versions[file] = (versions[file] as number) + 1;
      return true;
    }
    if (what < 8) {
      await proxy.get(url, { method: what < 6 ? 'PURGE' : 'BAN' });
      return true;
    }
    const fields: Record<string, string> = {
      'X-Slice': ['0B', '16KB', '50KB', 'parts'][dice.below(4)] as string,
    };
    const from = dice.below(size + 10);
    const to = from + dice.below(size + 10);
    const ranges = [`${from}-${to}`, `${from}-`, `-${from}`, `0-9,${from}-${to}`, `${from}-${to},0-0`];
    const kind = dice.below(7);
    if (kind < ranges.length) fields.Range = `bytes=${ranges[kind]}`;
    if (what < 12) {
      // A client that leaves.
      const socket = connect(proxy.port, '127.0.0.1');
      socket.on('error', () => undefined);
      const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`GET ${url} HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`);
      await new Promise((resolve) => socket.once('data', resolve).once('close', resolve));
      socket.destroy();
      return true;
    }
    return judge(file, await proxy.get(url, { fields }));
  }

  async function play(ops: number): Promise<number> {
    let left = ops;
    let broken = 0;
    const player = async (): Promise<void> => {
      while (left-- > 0) if (!(await step())) broken++;
    };
    await Promise.all(Array.from({ length: 12 }, player));
    return broken;
  }

  it('never mixes versions, whatever breaks', async () => {
    trouble = 1;
    await play(OPS);
    trouble = 0;
    // Nothing is left of it: once versions stay, everything is whole and nobody waits.
    for (const [file] of SIZES.entries()) await proxy.get(`/${file}`, { method: 'PURGE' });
    for (const [file] of SIZES.entries())
      for (const slices of ['16KB', '0B']) {
        const r = await proxy.get(`/${file}`, { fields: { 'X-Slice': slices } });
        expect([judge(file, r), r.status, r.body.length]).toEqual([true, 200, SIZES[file]]);
      }
    expect((await proxy.counters())['MGT.child_panic'] ?? 0).toBe(0);
    expect((await proxy.counters())['MAIN.vcl_fail'] ?? 0).toBe(0);
  });
});

function partsOf(r: Response): { from: number; to: number; bytes: Buffer }[] {
  const parts: { from: number; to: number; bytes: Buffer }[] = [];
  const text = r.body.toString('latin1');
  for (const match of text.matchAll(/Content-Range: bytes (\d+)-(\d+)\/\d+\r\n(?:[^\r\n]+\r\n)*\r\n/gi)) {
    const from = Number(match[1]);
    const to = Number(match[2]) + 1;
    const at = match.index + match[0].length;
    parts.push({ from, to, bytes: r.body.subarray(at, at + to - from) });
  }
  return parts;
}
