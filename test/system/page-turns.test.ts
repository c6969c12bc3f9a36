// Pages of edge-side includes that take many turns of the event loop: others are served meanwhile, and whatever becomes
// of the page, of its fragments and of the client between two turns, each page that comes whole is the one that was asked
// for, of bodies that are each what they claim to be. With no time in any turn (turn_budget), there are as many places to
// resume at as there can be; what is freed is overwritten.
//   PROXYD_PAGES_COUNT=20000 PROXYD_PAGES_SEED=7   a long random history, and from another seed
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../fuzz/random.ts';
import { ClientConnection, field, type Response } from '../harness/http-client.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { faultIn, numbersIn, numbersOf, VersionedOrigin } from '../harness/versioned-origin.ts';

const COUNT = Number(process.env.PROXYD_PAGES_COUNT ?? 300);
const SEED = Number(process.env.PROXYD_PAGES_SEED ?? 1);
const CLIENTS = 24;
const PACKED = 'Accept-Encoding: gzip\r\n';

/** The path's flags beside the origin's: p, passed; z, packed here; w, not streamed. */
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
  if (bereq.url ~ "^/[a-z]*e") { set beresp.do_esi = true; }
  if (bereq.url ~ "^/[a-z]*z") { set beresp.do_gzip = true; }
  if (bereq.url ~ "^/[a-z]*w") { set beresp.do_stream = false; }
}
sub vcl_backend_error {
  # There was no room: in a page nothing stands for it.
  synthetic("");
  return (deliver);
}
sub vcl_synth {
  synthetic("");
  return (deliver);
}`;

/**
 * The error in a page; '' if there is none.
 * @param mayLack fragments without room
 */
function faultOf(answer: Response, path: string, mayLack: boolean): string {
  if (answer.status === 503) return mayLack ? '' : 'status 503';
  if (answer.status !== 200) return `status ${answer.status}`;
  if (!answer.complete) return mayLack ? '' : 'broken off';
  const body = field(answer, 'Content-Encoding') === 'gzip' ? gunzipSync(answer.body) : answer.body;
  const fault = faultIn(body);
  if (fault !== '') return fault;
  const wanted = numbersOf(path);
  const got = numbersIn(body);
  if (mayLack) {
    let at = 0;
    for (const number of wanted) if (number === got[at]) at++;
    return at === got.length ? '' : `${got} is no part of it`;
  }
  return got.join() === wanted.join() ? '' : `${got.length} bodies: ${got}`.slice(0, 200);
}

describe.each([1, 2])('pages over many turns, with %i threads', (threads) => {
  const box = new Sandbox('proxyd-page-turns');
  const origin = new VersionedOrigin((number, version) =>
    number % 17 === 16 ? 40_000 + version : 40 + ((number * 37 + version * 11) % 300),
  );
  let proxy: RunningProxy;
  let small: RunningProxy;

  beforeAll(async () => {
    await origin.listen();
    const start = (storage: string): Promise<RunningProxy> =>
      startProxy(box, {
        program: backendProgram(origin.port, PROGRAM),
        storage: [storage],
        params: {
          ...{ debug: '+req_state', feature: '+esi_include_onerror', turn_budget: '0' },
          worker_threads: String(threads),
        },
      });
    proxy = await start('malloc,64m');
    small = await start('malloc,1m');
  });
  afterAll(async () => {
    for (const one of [proxy, small]) expect((await one.counters())['MGT.child_died']).toBe(0);
    origin.close();
    await box.dispose();
  });

  async function ask(path: string, head: string, version = '1.1', of = proxy): Promise<ClientConnection> {
    const client = await ClientConnection.open(of.port);
    client.send(`GET ${path} HTTP/${version}\r\nHost: example.test\r\n${head}\r\n`);
    return client;
  }

  // With others, they serve meanwhile.
  it.runIf(threads === 1).each([
    ['of one object', '/e2000/n/1', ''],
    ['of pages', '/e20/e100/n/1', ''],
    ['of packed objects', '/ez2000/z/1', PACKED],
  ])('a page %s has others served meanwhile', async (_what, path, head) => {
    await (await ask(path, head)).response();
    const others = await Promise.all(Array.from({ length: 4 }, () => ClientConnection.open(proxy.port)));
    /** The fewest responses of another client during one page. */
    const served = async (): Promise<number> => {
      let over = false;
      const page = ask(path, head).then(async (client) => {
        const answer = await client.response();
        over = true;
        client.close();
        expect(faultOf(answer, path, false)).toBe('');
      });
      const counts = await Promise.all(
        others.map(async (other) => {
          let count = 0;
          for (; !over; count++) {
            other.send('GET /n/99999 HTTP/1.1\r\nHost: example.test\r\n\r\n');
            await other.response();
          }
          return count;
        }),
      );
      await page;
      return Math.min(...counts);
    };
    // These clients may be without a processor during a page, but not during every one.
    let most = 0;
    for (let pages = 0; pages < 5 && most <= 10; pages++) most = Math.max(most, await served());
    expect(most).toBeGreaterThan(10);
    for (const other of others) other.close();
  });

  it.runIf(threads === 1)('a page whose fragments are all there begins none before its turn', async () => {
    const path = '/e6/e30/n/2';
    for (let i = 0; i < 2; i++) await (await ask(path, '')).response();
    await until('both pages in the log', async () => {
      const ends = await proxy.log('-c', '-g', 'vxid', '-q', `ReqURL eq "${path}"`, '-i', 'ReqAcct');
      return (ends.match(/ReqAcct/g) ?? []).length === 2;
    });
    const fragments = new Map<number, number[]>();
    for (const line of (await proxy.log('-g', 'raw', '-i', 'Link')).split('\n')) {
      const [, page, fragment] = /^ *(\d+) Link +c req (\d+) esi$/.exec(line) ?? [];
      if (page === undefined) continue;
      const list = fragments.get(Number(page)) ?? [];
      fragments.set(Number(page), [...list, Number(fragment)]);
    }
    const whole = [...fragments].filter(([, pages]) => pages.length === 6).at(-1);
    const [vxid = 0, pages = []] = whole ?? [];
    const inOrder = pages.flatMap((page) => [page, ...(fragments.get(page) ?? [])]);
    expect(inOrder).toEqual(Array.from({ length: 6 * 31 }, (_, i) => vxid + 1 + i));
  });

  const WAYS: Record<string, (page: string, client: ClientConnection) => Promise<unknown>> = {
    'its page is purged': (page) => proxy.get(page, { method: 'PURGE' }),
    'its page is replaced': (page) => proxy.get(page, { fields: { 'X-Fresh': '1' } }),
    'a fragment is purged': (page) => {
      const path = /[a-z]+\/\d+$/.exec(page)?.[0];
      return proxy.get(`/${path}`, { method: 'PURGE' });
    },
    'a page within is purged': (page) => {
      const path = /\/e\w*\/.*?(\/e.*)$/.exec(page)?.[1] ?? page;
      return proxy.get(path, { method: 'PURGE' });
    },
    'a fragment is replaced': (page) =>
      proxy.get(`/${/[a-z]+\/\d+$/.exec(page)?.[0]}`, { fields: { 'X-Fresh': '1' } }),
    'fragments are banned': async (page) => {
      for (const number of new Set(numbersOf(page)))
        await proxy.get('/', { method: 'BAN', fields: { 'X-Number': String(number) } });
    },
    'its client goes': async (_page, client) => {
      client.close();
    },
  };
  const KINDS: readonly [name: string, path: (n: number) => string, head: string][] = [
    ['a page', (n) => `/e20/n/${n}+n/${n + 1}+n/${n + 2}`, ''],
    ['pages in pages', (n) => `/e4/n/${n}+e5/e3/n/${n + 1}`, ''],
    ['a packed page', (n) => `/ez20/z/${n}+n/${n + 1}+g/${n + 2}`, PACKED],
    ['packed pages in pages', (n) => `/ez4/g/${n}+ez5/ez3/z/${n + 1}`, PACKED],
    ['a packed page of plain ones', (n) => `/ez10/n/${n}+e3/n/${n + 1}`, PACKED],
    ['a page of one that is passed', (n) => `/e20/n/${n}+p/${n + 1}+n/${n + 2}`, ''],
    ['a page of slow ones among stored ones', (n) => `/e10/n/${n}+dw/${n + 1}+d/${n + 2}`, ''],
  ];
  let number = 0;

  for (const [kind, path, head] of KINDS) {
    it(`${kind}: right wherever something comes between`, async () => {
      const faults: string[] = [];
      const probe = await ClientConnection.open(proxy.port);
      for (const [way, go] of Object.entries(WAYS)) {
        for (let turns = 0; turns < 14; turns++) {
          // Some are fetched on the way, some come from the cache.
          if (turns % 3 === 0) number += 3;
          const page = path(number);
          const client = await ask(page, head, turns % 7 === 6 ? '1.0' : '1.1');
          for (let i = 0; i < turns; i++) {
            probe.send('GET /n/99999 HTTP/1.1\r\nHost: example.test\r\n\r\n');
            await probe.response();
          }
          await go(page, client);
          if (way === 'its client goes') continue;
          const fault = faultOf(await client.response(), page, false);
          client.close();
          if (fault !== '') faults.push(`${way}, after ${turns}: ${page}: ${fault}`);
        }
      }
      probe.close();
      expect(faults).toEqual([]);
    });
  }

  it(`a random history in a store that is too small gives everybody their own (seed ${SEED})`, {
    timeout: 180_000 + COUNT * 100,
  }, async () => {
    const faults: string[] = [];
    let next = 0;
    const act = async (random: Random): Promise<string> => {
      const one = (): string => `${random.pick(['n', 'n', 'g', 'z', 'd', 'w', 'p'])}/${random.below(60)}`;
      const some = (): string => Array.from({ length: 1 + random.below(4) }, one).join('+');
      const flags = random.pick(['e', 'ez']);
      const times = 1 + random.below(12);
      const within = random.chance(0.4) ? `${random.pick(['e', 'ez'])}${1 + random.below(5)}/` : '';
      const path = `/${flags}${times}/${within}${some()}`;
      if (random.chance(0.15)) {
        await small.get(random.chance(0.5) ? `/${one()}` : path, { method: 'PURGE' });
        return '';
      }
      if (random.chance(0.05)) {
        await small.get('/', { method: 'BAN', fields: { 'X-Number': String(random.below(60)) } });
        return '';
      }
      let head = random.chance(0.5) ? PACKED : '';
      if (random.chance(0.1)) head += 'X-Fresh: 1\r\n';
      const client = await ask(path, head, random.chance(0.1) ? '1.0' : '1.1', small);
      try {
        if (random.chance(0.2)) {
          await delay(random.below(20));
          return '';
        }
        const fault = faultOf(await client.response(), path, true);
        return fault === '' ? '' : `${path} ${head.replaceAll('\r\n', '; ')}: ${fault}`;
      } catch (error) {
        return `${path}: ${(error as Error).message.slice(0, 200)}`;
      } finally {
        client.close();
      }
    };
    const client = async (): Promise<void> => {
      while (next < COUNT && faults.length < 20) {
        const at = next++;
        const fault = await act(new Random(SEED * 1_000_003 + at));
        if (fault !== '') faults.push(`${at}: ${fault}`);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    expect(faults).toEqual([]);
  });
});
