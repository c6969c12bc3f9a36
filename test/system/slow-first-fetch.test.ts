// Concurrent requests while the first fetch of an object is in progress, or fails: revalidations, ranges, retries and
// stale responses, at random moments, of bodies compressed and not, under both profiles. No client may get a body
// that is neither complete nor visibly truncated, and none such is stored. PROXYD_SLOW_SEED repeats a run,
// PROXYD_SLOW_URLS makes it longer.
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClientConnection, field, type Response, requestText } from '../harness/http-client.ts';
import { type Action, Origin, type OriginRequest, type Reply, respond } from '../harness/origin.ts';
import { delay, Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const SEED = Number(process.env.PROXYD_SLOW_SEED ?? Date.now() % 1_000_000);
const URLS = Number(process.env.PROXYD_SLOW_URLS ?? 60);

/** The headers of a response say how it was handled. */
const PROGRAM = `
import std;
sub vcl_recv {
  if (req.http.X-Pass) { return (pass); }
  return (hash);
}
sub vcl_backend_response {
  set beresp.ttl = std.duration(beresp.http.X-Ttl, 0s);
  set beresp.grace = std.duration(beresp.http.X-Grace, 0s);
  set beresp.keep = 10s;
  if (beresp.http.X-Do ~ "nostream") { set beresp.do_stream = false; }
  if (beresp.http.X-Do ~ "gzip") { set beresp.do_gzip = true; }
  if (beresp.http.X-Do ~ "unpack") { set beresp.do_gunzip = true; }
  if (beresp.status >= 500 && beresp.http.X-Do ~ "retry" && bereq.retries == 0) { return (retry); }
  if (beresp.status >= 500 || beresp.status == 206) { set beresp.ttl = 0s; set beresp.uncacheable = true; }
}
`;

const box = new Sandbox('proxyd-slow');
let origin: Origin;
const proxies: RunningProxy[] = [];
/** A second try has URLs of its own: the first has left its objects. */
let tries = 0;

beforeAll(async () => {
  origin = await Origin.start();
  for (const profile of ['classic', 'rfc9111']) {
    const program = backendProgram(origin.port, PROGRAM);
    proxies.push(await startProxy(box, { program, params: { http_profile: profile } }));
  }
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** Numbers that follow from a seed. */
class Dice {
  private state: number;
  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** Of 0 to n - 1. */
  below(n: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  }

  often(share: number): boolean {
    return this.below(1000) < share * 1000;
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)] as T;
  }
}

/** One URL: its versions, and how the origin answers for them. */
class Resource {
  readonly url: string;
  honest = false;
  private readonly dice: Dice;
  private readonly length: number;
  private readonly packed: boolean;
  private readonly chunked: boolean;
  private readonly validators: readonly string[];
  private readonly wish: string;
  private version = 0;

  constructor(url: string, seed: number) {
    this.url = url;
    this.dice = new Dice(seed);
    const { dice } = this;
    this.length = 1 + dice.below(dice.often(0.3) ? 200_000 : 3000);
    this.packed = dice.often(0.5);
    this.chunked = dice.often(0.4);
    this.validators = dice.one([['etag'], ['date'], ['etag', 'date'], []]);
    this.wish = dice.one(['', '', 'gzip', 'unpack', 'nostream', 'gzip nostream', 'retry', 'unpack retry']);
  }

  body(version: number): Buffer {
    const line = `${this.url} version ${version} `;
    return Buffer.from(line.repeat(1 + this.length / line.length).slice(0, this.length), 'latin1');
  }

  /** Every body that may be given as whole, as it is stored or sent. */
  bodies(): Buffer[] {
    return Array.from({ length: this.version + 1 }, (_, v) => this.body(v));
  }

  reply(request: OriginRequest, n: number): Reply {
    const { dice } = this;
    if (this.honest) return this.whole(this.version);
    if (n === 1) return this.slowly(this.whole(0), 0.35);
    const conditional = /\r\nif-(none-match|modified-since):/i.test(request.head);
    const kind = dice.below(10);
    if (conditional && kind < 5) return respond('304 Not Modified', this.fields(this.version));
    switch (kind) {
      case 5:
        return respond('500 Oops', { ...this.life(), 'X-Do': this.wish }, 'an error');
      case 6:
        return [{ reset: true }];
      case 7:
        // A range that was not requested, and a response to no condition.
        return respond('206 Partial Content', { ...this.life(), 'Content-Range': 'bytes 0-2/9' }, 'abc');
      case 8:
        return respond('304 Not Modified', this.fields(this.version));
      default:
        this.version++;
        return dice.often(0.5) ? this.whole(this.version) : this.slowly(this.whole(this.version), 0.4);
    }
  }

  private life(): Record<string, string> {
    const { dice } = this;
    return {
      'X-Ttl': `0.${1 + dice.below(4)}s`,
      'X-Grace': dice.one(['0s', '0s', '0.4s']),
      'Cache-Control': dice.one(['max-age=1, stale-if-error=30', 'max-age=0', 'max-age=1']),
    };
  }

  private fields(version: number): Record<string, string> {
    const fields: Record<string, string> = { ...this.life(), 'X-Do': this.wish };
    if (this.validators.includes('etag')) fields.ETag = `"${version}"`;
    if (this.validators.includes('date'))
      fields['Last-Modified'] = new Date(Date.UTC(2020, 1, 1, 0, 0, version)).toUTCString();
    return fields;
  }

  private whole(version: number): Reply {
    const plain = this.body(version);
    const bytes = this.packed ? gzipSync(plain) : plain;
    const fields = this.fields(version);
    if (this.packed) fields['Content-Encoding'] = 'gzip';
    if (!this.chunked) return respond('200 OK', fields, bytes);
    fields['Transfer-Encoding'] = 'chunked';
    const framed = Buffer.concat([
      Buffer.from(`${bytes.length.toString(16)}\r\n`),
      bytes,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    return respond('200 OK', fields, framed);
  }

  /** The same bytes in pieces with pauses, and perhaps not all of them. */
  private slowly([first]: Reply, share: number): Reply {
    const { dice } = this;
    const bytes = (first as { send: Buffer }).send;
    const head = bytes.indexOf('\r\n\r\n') + 4;
    const cuts = Array.from({ length: 2 + dice.below(4) }, () => head + dice.below(bytes.length - head + 1));
    const places = [head, ...cuts.sort((a, b) => a - b), bytes.length];
    const until = dice.often(share) ? 1 + dice.below(places.length - 1) : places.length;
    const actions: Action[] = [];
    let at = 0;
    for (const place of places.slice(0, until)) {
      if (at > 0) actions.push({ wait: 20 + dice.below(250) });
      if (place > at) actions.push({ send: bytes.subarray(at, place) });
      at = place;
    }
    if (until < places.length) actions.push(dice.often(0.5) ? { reset: true } : { close: true });
    return actions;
  }
}

/** The error in a response, or null. */
function judge(resource: Resource, asked: Record<string, string>, got: Response): string | null {
  const { status } = got;
  if (!got.complete || status === 304 || status === 416 || status >= 500) return null;
  // Unrequested responses may only be passed.
  if (status === 206 && asked.Range === undefined && asked['X-Pass'] === undefined) return 'an unasked part';
  if (got.framing === 'none') return null;
  const packed = field(got, 'content-encoding') === 'gzip';
  if (packed && asked['Accept-Encoding'] === undefined) return 'packed, though not asked for';
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(field(got, 'content-range') ?? '');
  if (status === 206) {
    if (range === null) return 'a part without a place';
    const [low, high, total] = range.slice(1).map(Number) as [number, number, number];
    if (got.body.length !== high - low + 1) return `a part of ${got.body.length} bytes for ${range[0]}`;
    // A pass returns the origin's response; the proxy's own compression is not known to others.
    if (asked['X-Pass'] !== undefined && total === 9) return null;
    if (packed) return null;
    const fits = (body: Buffer) => body.length === total && body.subarray(low, high + 1).equals(got.body);
    return resource.bodies().some(fits) ? null : 'another part';
  }
  if (status !== 200) return `status ${status}`;
  let body = got.body;
  try {
    if (packed) body = gunzipSync(body);
  } catch {
    return 'packed data that cannot be unpacked';
  }
  if (resource.bodies().some((whole) => whole.equals(body))) return null;
  return `${body.length} other bytes: ${body.toString('latin1').slice(0, 60)} … ${body.toString('latin1').slice(-30)}`;
}

async function ask(proxy: RunningProxy, resource: Resource, dice: Dice): Promise<string | null> {
  const method = dice.often(0.1) ? 'HEAD' : 'GET';
  const fields: Record<string, string> = {};
  if (dice.often(0.5)) fields['Accept-Encoding'] = 'gzip';
  if (dice.often(0.25)) fields.Range = dice.one(['bytes=0-9', 'bytes=5-', 'bytes=-7', 'bytes=100-100000']);
  if (dice.often(0.15)) fields['If-None-Match'] = '"0"';
  if (dice.often(0.1)) fields['X-Pass'] = '1';
  const leaves = dice.often(0.15) ? dice.below(200) : -1;
  const client = await ClientConnection.open(proxy.port);
  try {
    client.send(requestText(resource.url, { method, fields }));
    if (leaves >= 0) {
      await delay(leaves);
      return null;
    }
    const got = await client.response(method).catch((error: Error) => {
      // Nothing at all is visibly cut.
      if (client.ended) return null;
      throw error;
    });
    const wrong = got === null ? null : judge(resource, fields, got);
    return wrong && `${method} ${resource.url} ${JSON.stringify(fields)}: ${wrong}\n${got?.head}`;
  } finally {
    client.close();
  }
}

it(`shows no part of a body as the whole (PROXYD_SLOW_SEED=${SEED})`, { timeout: 300_000 }, async () => {
  const wrong: string[] = [];
  tries++;
  const seen: Record<string, number> = {};
  const play = async (proxy: RunningProxy, i: number, seed: number): Promise<void> => {
    const dice = new Dice(seed);
    const resource = new Resource(`/try${tries}/${proxy.port}/${i}`, seed + 1);
    origin.on(resource.url, (request, n) => resource.reply(request, n));
    const clients = Array.from({ length: 7 }, (_, k) => (k === 0 ? 0 : dice.below(1600)));
    const reported = await Promise.all(
      clients.map(async (moment) => {
        await delay(moment);
        return ask(proxy, resource, new Dice(seed + moment));
      }),
    );
    // From here on the origin is reliable: an incomplete body now was stored.
    resource.honest = true;
    for (const encoding of [{}, { 'Accept-Encoding': 'gzip' }]) {
      for (const pause of [0, 450]) {
        await delay(pause);
        const client = await ClientConnection.open(proxy.port);
        client.send(requestText(resource.url, { fields: encoding }));
        const got = await client.response();
        client.close();
        seen[got.status] = (seen[got.status] ?? 0) + 1;
        const kept = judge(resource, encoding, got);
        if (kept !== null) reported.push(`kept for ${resource.url}: ${kept}\n${got.head}`);
      }
    }
    wrong.push(...reported.filter((text) => text !== null));
  };
  for (let i = 0; i < URLS; i += 20) {
    const some = Array.from({ length: Math.min(20, URLS - i) }, (_, k) => i + k);
    await Promise.all(
      proxies.flatMap((proxy, p) => some.map((k) => play(proxy, k, SEED + k * 1009 + p * 7))),
    );
  }
  expect(wrong.slice(0, 5)).toEqual([]);
  // The end of each story is a whole body.
  expect(seen[200]).toBeGreaterThan(URLS * 6);
  for (const proxy of proxies) {
    const { stdout } = await proxy.adm('panic.show');
    expect(stdout).toContain('Child has not panicked');
  }
});
