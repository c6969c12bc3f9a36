// Clients that read slowly while what they are being sent goes from the cache: purged, banned, evicted, replaced. Every
// byte that they get is of the version that its ETag names, whatever filters it passes and however it is put together;
// what is freed is overwritten (debug +req_state), so that bytes of another object cannot pass for right ones.
//   PROXYD_READERS_SECONDS=600 PROXYD_READERS_SEED=7 PROXYD_TEST_THREADS=4   a long random history, and from another seed
import { writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../fuzz/random.ts';
import { ClientConnection, field, type Response } from '../harness/http-client.ts';
import { delay, Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';
import {
  differenceIn,
  faultIn,
  VersionedOrigin,
  versionedBody,
  versionOf,
} from '../harness/versioned-origin.ts';

const COUNT = 600;
/** Instead of this many requests. */
const SECONDS = Number(process.env.PROXYD_READERS_SECONDS ?? 0);
const SEED = Number(process.env.PROXYD_READERS_SEED ?? 1);
const CLIENTS = 64;

const box = new Sandbox('proxyd-readers');
afterAll(() => box.dispose());
const passing = `${box.dir}/passing.mjs`;
writeFileSync(
  passing,
  `export const extension = { abi: 1, filters: {
    passing: { side: 'delivery', changes: 'nothing', open: () => ({ transform() {} }) },
  } };`,
);

/** The path's flags beside the origin's: p, passed; z, packed here; u, unpacked here; w, not streamed. */
const PROGRAM = `
sub vcl_recv {
  if (req.method == "PURGE") { return (purge); }
  if (req.method == "BAN") {
    ban("obj.http.X-Number == " + req.http.X-Number);
    return (synth(200));
  }
  if (req.http.X-Fresh) { set req.hash_always_miss = true; }
  if (req.url ~ "^/[a-z]*p") { return (pass); }
  return (hash);
}
sub vcl_backend_response {
  set beresp.ttl = 60s;
  set beresp.grace = 0s;
  if (bereq.http.X-Short) { set beresp.ttl = 1s; }
  if (bereq.url ~ "^/[a-z]*e") { set beresp.do_esi = true; }
  if (bereq.url ~ "^/[a-z]*z") { set beresp.do_gzip = true; }
  if (bereq.url ~ "^/[a-z]*u") { set beresp.do_gunzip = true; }
  if (bereq.url ~ "^/[a-z]*w") { set beresp.do_stream = false; }
}
sub vcl_backend_error {
  # There was no room: in a page nothing stands for it.
  synthetic("");
  return (deliver);
}
sub vcl_deliver {
  if (req.http.X-Filter == "before") { set resp.filters = "passing" + resp.filters; }
  if (req.http.X-Filter == "after") { set resp.filters = resp.filters + " passing"; }
}`;

async function start(origin: VersionedOrigin, listener: string, storage: string): Promise<RunningProxy> {
  await origin.listen();
  return startProxy(box, {
    program: backendProgram(origin.port, PROGRAM).replace('\n', `\nimport passing from "${passing}";\n`),
    storage: [storage],
    args: ['-a', listener],
    params: { debug: '+req_state', feature: '+esi_include_onerror', idle_send_timeout: '120' },
  });
}

/** The error in a response; '' if there is none. */
function faultOf(answer: Response, isPage: boolean): string {
  const { status } = answer;
  if (status === 503) return '';
  if (status !== 200 && status !== 206) return `status ${status}`;
  const isPacked = field(answer, 'Content-Encoding') === 'gzip';
  const range = /^bytes (\d+)-(\d+)\//.exec(field(answer, 'Content-Range') ?? '');
  // A Unix socket has no reset, so that the end of the connection says nothing. What broke off is checked as far as it came.
  const isWhole = answer.complete && answer.framing !== 'eof';
  if (isPacked && (range !== null || !isWhole)) return '';
  const body = isPacked ? unpacked(answer.body) : answer.body;
  if (body === null) return 'no gzip stream';
  if (isPage) return isWhole ? faultIn(body) : '';
  const whole = versionedBody(...versionOf(field(answer, 'ETag')));
  const [from, to] = range === null ? [0, whole.length] : [Number(range[1]), Number(range[2]) + 1];
  return differenceIn(whole.subarray(from, isWhole ? to : from + body.length), body);
}

function unpacked(bytes: Buffer): Buffer | null {
  try {
    return gunzipSync(bytes);
  } catch {
    return null;
  }
}

describe('an object that goes while a client has yet to read it', () => {
  /** About as much as a Unix socket takes, in steps of a quarter of a stored piece: of some the last one waits in the
   * runtime. */
  const SIZES = Array.from({ length: 10 }, (_, i) => 206_000 + i * 4000);
  const origin = new VersionedOrigin((number) => SIZES[number % SIZES.length] as number);
  const listener = `${box.dir}/one`;
  let proxy: RunningProxy;
  let others = 100_000;

  beforeAll(async () => {
    proxy = await start(origin, listener, 'malloc,16m');
  });
  afterAll(() => origin.close());

  /** Several turns of the loop, in which all is done that can be. */
  async function settle(): Promise<void> {
    for (let i = 0; i < 12; i++) await proxy.get('/none', { method: 'PURGE' });
  }

  /** Asks for what is stored by now, and does not read. */
  async function ask(url: string, rest: string): Promise<{ url: string; client: ClientConnection }> {
    await proxy.get(url, { fields: { 'Accept-Encoding': 'gzip' } });
    const client = await ClientConnection.open(listener);
    client.pause();
    client.send(`GET ${url} ${rest}\r\n`);
    return { url, client };
  }

  async function fill(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await proxy.get(`/n/${others++}`);
  }

  const WAYS: Record<string, (path: string, number: number) => Promise<unknown>> = {
    purged: (path) => proxy.get(path, { method: 'PURGE' }),
    banned: async (path, number) => {
      await proxy.get('/', { method: 'BAN', fields: { 'X-Number': String(number) } });
      await proxy.get(path);
    },
    replaced: (path) => proxy.get(path, { fields: { 'X-Fresh': '1' } }),
    evicted: () => fill(8),
  };

  const KINDS: readonly [name: string, path: (number: number) => string, head: string][] = [
    ['whole', (n) => `/n/${n}`, ''],
    ['in chunks', (n) => `/cp/${n}`, ''],
    ['a range', (n) => `/n/${n}`, 'Range: bytes=1000-212900\r\n'],
    ['unpacked', (n) => `/g/${n}`, ''],
    ['packed here', (n) => `/z/${n}`, 'Accept-Encoding: gzip\r\n'],
    ['passed', (n) => `/p/${n}`, ''],
    ['a page', (n) => `/e/n/${n}`, ''],
    ['a page of two', (n) => `/e/n/${n}+n/${n + 1}`, ''],
    ['a page in a page', (n) => `/e/e/n/${n}`, ''],
    ['a packed page', (n) => `/ez/z/${n}`, 'Accept-Encoding: gzip\r\n'],
    ['a page of a passed one', (n) => `/e/p/${n}`, ''],
  ];
  const FILTERS = ['', 'X-Filter: before\r\n', 'X-Filter: after\r\n'];
  let number = 0;

  for (const [kind, path, head] of KINDS) {
    it(`${kind}: every byte is its own, through any filter and over any protocol`, async () => {
      const faults: string[] = [];
      for (const [way, go] of Object.entries(WAYS)) {
        // Filtered data cannot be part of a compressed page.
        for (const filter of path(0).startsWith('/ez') ? [''] : FILTERS) {
          for (const version of filter === '' ? ['1.1', '1.0'] : ['1.1']) {
            const asked = await Promise.all(
              SIZES.map(() =>
                ask(path(number++), `HTTP/${version}\r\nHost: example.test\r\n${head}${filter}`),
              ),
            );
            await settle();
            for (const { url, client } of asked) {
              const first = url.startsWith('/e')
                ? url.slice(url.indexOf('/', 1)).replace(/^\/e(?=\/)|\+.*/g, '')
                : url;
              await go(first, Number(/\d+/.exec(first)?.[0]));
              client.resume();
            }
            await fill(12);
            for (const { url, client } of asked) {
              const answer = await client.response();
              client.close();
              const fault =
                answer.complete && answer.status !== 503
                  ? faultOf(answer, url.startsWith('/e'))
                  : `broken off, ${answer.status}`;
              if (fault !== '') faults.push(`${way}, HTTP/${version} ${filter.trim()}: ${url}: ${fault}`);
            }
          }
        }
      }
      expect(faults).toEqual([]);
    });
  }
});

describe('a random history', () => {
  const NUMBERS = 40;
  const origin = new VersionedOrigin(
    (number, version) => 150_000 + ((number * 7919 + version * 104_729) % 550_000),
  );
  const listener = `${box.dir}/two`;
  let proxy: RunningProxy;

  beforeAll(async () => {
    proxy = await start(origin, listener, 'malloc,6m');
  });
  afterAll(() => origin.close());

  /** One thing done to a URL, and what is wrong with the answer. */
  async function act(random: Random): Promise<string> {
    const one = (): string =>
      `${random.pick(['n', 'n', 'g', 'z', 'u', 'c', 'd', 'dw', 'p', 'dp'])}/${random.below(NUMBERS)}`;
    const path = one();
    if (random.chance(0.1)) {
      await proxy.get(`/${path}`, { method: 'PURGE' });
      return '';
    }
    if (random.chance(0.05)) {
      await proxy.get('/', { method: 'BAN', fields: { 'X-Number': String(random.below(NUMBERS)) } });
      return '';
    }
    const isPage = random.chance(0.2);
    const url = isPage ? `/${random.pick(['e', 'ez'])}/${[one(), one(), one()].join('+')}` : `/${path}`;
    let head = '';
    if (random.chance(0.3)) head += 'Accept-Encoding: gzip\r\n';
    if (!isPage && random.chance(0.6)) head += `X-Filter: ${random.pick(['before', 'after'])}\r\n`;
    if (random.chance(0.1)) head += 'X-Fresh: 1\r\n';
    if (random.chance(0.1)) head += 'X-Short: 1\r\n';
    if (!isPage && random.chance(0.3))
      head += `Range: bytes=${random.below(100_000)}-${100_000 + random.below(100_000)}\r\n`;
    const version = random.chance(0.1) ? '1.0' : '1.1';
    const client = await ClientConnection.open(random.chance(0.8) ? listener : proxy.port);
    try {
      client.pause();
      client.send(`GET ${url} HTTP/${version}\r\nHost: example.test\r\n${head}\r\n`);
      if (random.chance(0.6)) {
        await delay(random.below(150));
        const { socket } = client;
        socket.on('data', () => {
          client.pause();
          setTimeout(() => client.resume(), random.below(8));
        });
      }
      client.resume();
      if (random.chance(0.1)) return '';
      const fault = faultOf(await client.response(), isPage);
      return fault === '' ? '' : `${url} ${version} ${head.replaceAll('\r\n', '; ')}: ${fault}`;
    } catch (error) {
      return `${url}: ${(error as Error).message.slice(0, 100)}`;
    } finally {
      client.close();
    }
  }

  it(`of ${SECONDS > 0 ? `${SECONDS} seconds` : `${COUNT} requests`} gives nobody what is another's (seed ${SEED})`, {
    timeout: 180_000 + SECONDS * 1000,
  }, async () => {
    const faults: string[] = [];
    let next = 0;
    const end = performance.now() + SECONDS * 1000;
    const goesOn = (): boolean => (SECONDS > 0 ? performance.now() < end : next < COUNT);
    const client = async (): Promise<void> => {
      while (goesOn() && faults.length < 20) {
        const number = next++;
        const fault = await act(new Random(SEED * 1_000_003 + number));
        if (fault !== '') faults.push(`${number}: ${fault}`);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    if (SECONDS > 0) console.log(`${next} requests`);
    expect(faults).toEqual([]);
    expect((await proxy.counters())['MGT.child_died']).toBe(0);
  });
});
