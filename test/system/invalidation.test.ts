// Invalidation as operators do it: the recipe of the package, bans and their dry run, surrogate keys, version tags,
// forced misses that fail, and that no client ever gets content invalidated before its request began.
// PROXYD_INVALIDATION_SECONDS makes the last one longer. Black box: only dist/ and its commands.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field, type Response, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-invalidation');
let origin: Origin;
let proxy: RunningProxy;
let stranger: RunningProxy;

/** The origin's version per URL. */
const versions = new Map<string, number>();
const versionOf = (url: string): number => versions.get(url) ?? 0;
/** How the origin behaves for URLs that begin with this. */
let broken = false;

const program = (acl: string): string => `vcl 4.1;
import purge;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
acl invalidators { "${acl}"; }
include "invalidate.vcl";
sub vcl_recv { if (req.http.x-force) { set req.hash_always_miss = true; if (req.http.x-force == "all") { set req.hash_ignore_vary = true; } } }
sub vcl_hit { if (req.method == "VARIANT") { set req.http.n = purge.hard_variant(); return (synth(200, req.http.n)); } }
sub vcl_recv { if (req.method == "VARIANT") { return (hash); } }
sub vcl_backend_response { set beresp.ttl = 1h; set beresp.grace = 1h; if (beresp.status >= 500) { return (abandon); } }
`;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', (request) => {
    const { url } = request;
    if (broken) return respond('500 Broken', {}, 'broken');
    const body = `${url} v${versionOf(url)}`;
    const fields = {
      Vary: 'X-Variant',
      xkey: `all, page${url} half${url.length % 2}`,
      'X-Version': `r${versionOf(url)}`,
      'X-Url': url,
    };
    // The answer is made before it is sent: it may be old when it arrives.
    return url.startsWith('/slow')
      ? [{ wait: 3 }, ...respond('200 OK', fields, body)]
      : respond('200 OK', fields, body);
  });
  const params = { xkey_fields: 'xkey X-Version', ban_lurker_age: '0', vsl_mask: '+ExpKill' };
  [proxy, stranger] = await Promise.all([
    startProxy(box, { program: program('127.0.0.1'), params }),
    startProxy(box, { program: program('192.0.2.1'), dir: box.path('stranger') }),
  ]);
});
afterAll(async () => {
  await origin.close();
  await box.dispose();
});

async function body(path: string, fields: Record<string, string> = {}): Promise<string> {
  return (await proxy.get(path, { fields })).body.toString();
}
function ask(method: string, path: string, fields: Record<string, string> = {}): Promise<Response> {
  return proxy.get(path, { method, fields });
}
async function invalidated(
  method: string,
  path: string,
  fields: Record<string, string> = {},
): Promise<string> {
  const answer = await ask(method, path, fields);
  return `${answer.status} ${field(answer, 'x-invalidated')}`;
}
/** The next version of a URL at the origin. */
function publish(...urls: string[]): void {
  for (const url of urls) versions.set(url, versionOf(url) + 1);
}

describe('the recipe', () => {
  it('is for those the acl names', async () => {
    for (const method of ['PURGE', 'SOFTPURGE', 'REFRESH', 'BAN', 'SOFTBAN']) {
      expect((await stranger.get('/', { method })).status).toBe(405);
    }
  });

  it('purges all variants of a URL, and reports how many', async () => {
    await body('/a', { 'X-Variant': '1' });
    await body('/a', { 'X-Variant': '2' });
    publish('/a');
    expect(await body('/a', { 'X-Variant': '2' })).toBe('/a v0');
    expect(await invalidated('PURGE', '/a')).toBe('200 2');
    expect(await body('/a', { 'X-Variant': '1' })).toBe('/a v1');
    expect(await body('/a', { 'X-Variant': '2' })).toBe('/a v1');
  });

  it('leaves the other variants when a program purges one alone', async () => {
    await body('/one', { 'X-Variant': '1' });
    await body('/one', { 'X-Variant': '2' });
    publish('/one');
    expect((await ask('VARIANT', '/one', { 'X-Variant': '1' })).reason).toBe('1');
    expect(await body('/one', { 'X-Variant': '1' })).toBe('/one v1');
    expect(await body('/one', { 'X-Variant': '2' })).toBe('/one v0');
  });

  it('makes an object stale that is served while it is fetched again', async () => {
    await body('/soft');
    publish('/soft');
    expect(await invalidated('SOFTPURGE', '/soft')).toBe('200 1');
    expect(await body('/soft')).toBe('/soft v0');
    await until('the new one', async () => (await body('/soft')) === '/soft v1');
  });

  it('refreshes: purges, restarts, fetches again, stores it', async () => {
    await body('/refresh');
    publish('/refresh');
    expect((await ask('REFRESH', '/refresh')).body.toString()).toBe('/refresh v1');
    const fetched = origin.seen('/refresh').length;
    expect(await body('/refresh')).toBe('/refresh v1');
    expect(origin.seen('/refresh').length).toBe(fetched);
  });

  it('bans by an expression, and says what is wrong with one', async () => {
    await body('/ban');
    publish('/ban');
    expect((await ask('BAN', '/', { 'x-ban': 'obj.http.x-url == /ban' })).status).toBe(200);
    expect(await body('/ban')).toBe('/ban v1');
    expect((await ask('BAN', '/')).reason).toBe('No x-ban');
    const refused = await ask('BAN', '/', { 'x-ban': 'obj.foo == 1' });
    expect(`${refused.status} ${refused.reason}`).toBe('400 Unknown or unsupported field "obj.foo"');
  });

  it('bans softly', async () => {
    await body('/softban');
    publish('/softban');
    expect((await ask('SOFTBAN', '/', { 'x-ban': 'obj.http.x-url == /softban' })).status).toBe(200);
    expect(await body('/softban')).toBe('/softban v0');
    await until('the new one', async () => (await body('/softban')) === '/softban v1');
  });

  it('purges by surrogate key', async () => {
    await body('/k1');
    await body('/k2');
    publish('/k1', '/k2');
    expect(await invalidated('PURGE', '/', { xkey: 'page/k1, none' })).toBe('200 1');
    expect(await body('/k1')).toBe('/k1 v1');
    expect(await body('/k2')).toBe('/k2 v0');
    expect(await invalidated('SOFTPURGE', '/', { xkey: 'page/k2' })).toBe('200 1');
    expect(await invalidated('SOFTPURGE', '/', { xkey: 'page/k2' })).toBe('200 0');
    expect(await body('/k2')).toBe('/k2 v0');
    await until('the new one', async () => (await body('/k2')) === '/k2 v1');
    expect(await invalidated('PURGE', '/', { xkey: 'none', Xkey: 'page/k2' })).toBe('200 1');
  });

  it('invalidates by version, with a configured field as a surrogate key and with a ban', async () => {
    versions.set('/v1', 17);
    versions.set('/v2', 17);
    versions.set('/v3', 18);
    for (const url of ['/v1', '/v2', '/v3']) await body(url);
    publish('/v1', '/v2', '/v3');
    expect(await invalidated('PURGE', '/', { xkey: 'r17' })).toBe('200 2');
    expect(await Promise.all(['/v1', '/v2', '/v3'].map((url) => body(url)))).toEqual([
      '/v1 v18',
      '/v2 v18',
      '/v3 v18',
    ]);
    publish('/v1');
    expect((await ask('BAN', '/', { 'x-version': 'r18' })).status).toBe(200);
    expect(await body('/v1')).toBe('/v1 v19');
    expect(await body('/v3')).toBe('/v3 v19');
  });
});

describe('a forced miss', () => {
  it('is the client’s error when the origin fails, and leaves the cached object alone', async () => {
    await body('/forced');
    publish('/forced');
    broken = true;
    expect((await ask('GET', '/forced', { 'x-force': '1' })).status).toBe(503);
    expect(await body('/forced')).toBe('/forced v0');
    broken = false;
    expect(await body('/forced')).toBe('/forced v0');
    expect(await body('/forced', { 'x-force': '1' })).toBe('/forced v1');
    expect(await body('/forced')).toBe('/forced v1');
  });

  it('replaces the variant that was asked for, or all of them', async () => {
    const variants = ['a', 'b', 'c'];
    const bodies = (): Promise<string[]> =>
      Promise.all(variants.map((variant) => body('/variants', { 'X-Variant': variant })));
    await bodies();
    publish('/variants');
    await body('/variants', { 'X-Variant': 'b', 'x-force': '1' });
    expect(await bodies()).toEqual(['/variants v0', '/variants v1', '/variants v0']);
    await body('/variants', { 'X-Variant': 'b', 'x-force': 'all' });
    expect(await bodies()).toEqual(Array(3).fill('/variants v1'));
    // Nothing is left under the key but these three.
    const purged = await ask('PURGE', '/variants');
    expect(field(purged, 'x-invalidated')).toBe('3');
  });
});

describe('the commands', () => {
  it('ban.count counts and touches nothing', async () => {
    for (const url of ['/c1', '/c2', '/c3']) await body(url);
    const count = async (...words: string[]): Promise<string> =>
      (await proxy.adm('ban.count', ...words)).stdout;
    expect(await count('obj.http.x-url', '~', '^/c[12]$')).toMatch(/^2 of \d+ objects match\.\n/);
    expect(await count('req.url', '==', '/c1', '&&', 'req.http.host', '==', 'example.test')).toMatch(
      /^1 of /,
    );
    expect(await count('req.url', '==', '/c1', '&&', 'req.http.cookie', '==', 'x')).toMatch(
      /^0 of \d+ objects match\.\n1 more may match: req\.http\.cookie /,
    );
    publish('/c1');
    expect(await body('/c1')).toBe('/c1 v0');
    const json = JSON.parse((await proxy.adm('ban.count', '-j', 'obj.http.x-url', '==', '/c1')).stdout);
    expect(json[3]).toMatchObject({ matching: 1, undecided: 0 });
  });

  it('ban.soft shows in ban.list, and works on what nobody asks for', async () => {
    const before = (await proxy.counters())['MAIN.bans_lurker_obj_softened'] ?? 0;
    await body('/lazy');
    await proxy.adm('param.set', 'ban_lurker_age', '600');
    expect((await proxy.adm('ban.soft', 'obj.http.x-url', '==', '/lazy')).code).toBe(0);
    expect((await proxy.adm('ban.list')).stdout).toMatch(/ -S obj\.http\.x-url == \/lazy\n/);
    expect((await proxy.adm('ban.list', '-j')).stdout).toContain('"soft": true');
    await proxy.adm('param.set', 'ban_lurker_age', '0');
    await proxy.counterReaches('MAIN.bans_lurker_obj_softened', before + 1);
  });

  it.each([
    [
      'a catastrophic regex',
      'obj.http.x ~ (a+)+$',
      'Regex compile error: the time that this expression needs may grow exponentially',
    ],
    ['a broken regex', 'obj.http.x ~ (', 'Regex compile error: missing closing parenthesis'],
    [
      '100 KB',
      `obj.http.x == ${'y'.repeat(100_000)}`,
      'Expression too long: 100014 characters, at most 16384',
    ],
    ['garbage', '\u0001 \u0002 \u0003', 'Unknown or unsupported field "\u0001"'],
    [
      'a time that is none',
      'obj.ttl > 99999999999999999999999',
      'expected duration <n.nn>[ms|s|m|h|d|w|y] got "99999999999999999999999"',
    ],
  ])('refuse %s', async (_name, text, error) => {
    const before = (await proxy.adm('ban.list')).stdout;
    const done = await proxy.adm('ban', ...text.split(' '));
    expect(done.code).toBe(1);
    expect(done.stdout + done.stderr).toContain(error);
    expect((await proxy.adm('ban.list')).stdout).toBe(before);
  });

  it('leave a record and a counter of each invalidation', async () => {
    const counters = await proxy.counters();
    for (const name of [
      'n_purges',
      'n_obj_purged',
      'n_soft_purges',
      'xkey_purges',
      'xkey_obj_purged',
      'bans_soft',
    ]) {
      expect(counters[`MAIN.${name}`], name).toBeGreaterThan(0);
    }
    // A ban that asks for the request is for the lookup: the lurker cannot be there first.
    await body('/asked');
    await proxy.adm('ban', 'req.url', '==', '/asked');
    await body('/asked');
    for (const record of [
      /ExpBan +c \d+ banned lookup/,
      /Notice +c xkey\.purge page\/k1, none: 1/,
      /Notice +- softban obj\.http\.x-url == \/softban/,
      /CLI +- Rd ban\.soft/,
    ])
      await proxy.logged(record, '-g', 'raw');
    expect(await proxy.log('-g', 'raw')).not.toMatch(/Notice +c purge\.soft/);
  });
});

describe('under load', () => {
  const seconds = Number(process.env.PROXYD_INVALIDATION_SECONDS ?? 1);

  it(
    'no client gets content invalidated before its request began',
    async () => {
      const urls = Array.from({ length: 12 }, (_, i) => `/slow${'x'.repeat(i % 2)}-${i}`);
      /** The oldest version that may still be delivered. */
      const floors = new Map<string, number>();
      const stale: string[] = [];
      let done = false;
      let answers = 0;
      const client = async (n: number): Promise<void> => {
        const connection = await ClientConnection.open(proxy.port);
        for (let i = n; !done; i++) {
          const url = urls[i % urls.length] as string;
          const floor = floors.get(url) ?? 0;
          connection.send(requestText(url));
          const answer = await connection.response('GET');
          const version = Number(/ v(\d+)$/.exec(answer.body.toString())?.[1] ?? -1);
          if (answer.status !== 200 || version < floor)
            stale.push(`${answer.status} ${url} v${version}, floor ${floor}`);
          answers++;
        }
        connection.close();
      };
      const editor = async (n: number): Promise<void> => {
        for (let i = n; !done; i++) {
          const url = urls[(i * 7 + n) % urls.length] as string;
          const half = i % 12 === 5;
          const hit = half ? urls.filter((u) => u.length % 2 === url.length % 2) : [url];
          publish(...hit);
          const now = hit.map((u) => [u, versionOf(u)] as const);
          const way = half ? 3 : i % 5;
          let answer: Response;
          if (way === 0) answer = await ask('PURGE', url);
          else if (way === 1) answer = await ask('BAN', '/', { 'x-ban': `obj.http.x-url == ${url}` });
          else if (way === 2) answer = await ask('BAN', '/', { 'x-ban': `req.url == ${url}` });
          else if (way === 3)
            answer = await ask('PURGE', '/', { xkey: half ? `half${url.length % 2}` : `page${url}` });
          else answer = await ask('REFRESH', url);
          expect(answer.status).toBe(200);
          for (const [u, version] of now) floors.set(u, Math.max(floors.get(u) ?? 0, version));
          await delay(2);
        }
      };
      const all = [
        ...Array.from({ length: 64 }, (_, n) => client(n)),
        ...Array.from({ length: 3 }, (_, n) => editor(n)),
      ];
      await delay(seconds * 1000);
      // A busy machine takes longer to collect enough.
      await until('enough of both', () => answers > 1000 && Math.max(...floors.values()) > 3).finally(() => {
        done = true;
      });
      await Promise.all(all);
      expect(stale).toEqual([]);
    },
    (seconds + 180) * 1000,
  );
});
