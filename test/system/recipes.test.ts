// The recipes of the language's manual, each played on a running proxy and, where it is installed, on Varnish: the same
// requests, the same expectations. Each product has one daemon, which loads the recipes one after the other.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type fetchOnce, field, type Response } from '../harness/http-client.ts';
import { type Action, Origin, type Reply, respond } from '../harness/origin.ts';
import { CertificateMaker } from '../harness/origin-certificates.ts';
import { installed, Sandbox, until } from '../harness/processes.ts';
import { type Product, ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const RECIPES = `${ROOT}daemon/vcl/recipes`;
const CACHED = { 'Cache-Control': 'max-age=60' };

/** A recipe in use, in front of a site of its own. */
interface Site {
  origin: Origin;
  /** The second backend of recipes that have two. */
  other: Origin;
  get(
    path: string,
    fields?: Record<string, string>,
    options?: Parameters<typeof fetchOnce>[2],
  ): Promise<Response>;
  /** The body of a response that has to be 200. */
  body(path: string, fields?: Record<string, string>): Promise<string>;
}

/** Replies with the number of the request for this URL: a copy from the cache has an old number. */
function counted(origin: Origin, url: string, fields: Record<string, string> = CACHED): void {
  origin.on(url, (_, n) => respond('200 OK', fields, `${url} ${n}`));
}

function promise(): { held: Promise<void>; release: () => void } {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { held, release };
}

/** Recipes for which Varnish 7.1 has no means. */
const OURS = ['private-ca'];

/** A certificate of an authority of its own, and the file with the authority. */
function privateAuthority(directory: string): { origin: { cert: string; key: string }; file: string } {
  const make = new CertificateMaker(directory);
  const root = make.authority('root');
  return { origin: make.issue('origin', { by: root, names: ['DNS:origin.internal'] }), file: root.certFile };
}

const PLAYS: Readonly<Record<string, (site: Site) => Promise<void>>> = {
  'force-miss': async ({ origin, body }) => {
    counted(origin, '/news');
    expect(await body('/news')).toBe('/news 1');
    expect(await body('/news')).toBe('/news 1');
    expect(await body('/news', { 'Cache-Control': 'no-cache' })).toBe('/news 2');
    expect(await body('/news')).toBe('/news 2');
  },

  'hit-for-miss': async ({ origin, get }) => {
    const { held, release } = promise();
    origin.on('/hello', (_, n) => {
      const reply = respond('200 OK', n <= 3 ? { ...CACHED, 'X-User': 'ann' } : CACHED, `hello ${n}`);
      return n === 2 ? [{ hold: held }, ...reply] : reply;
    });
    const seen = async (): Promise<[string, string | undefined]> => {
      const answer = await get('/hello');
      return [answer.body.toString(), field(answer, 'X-Cache')];
    };
    expect(await seen()).toEqual(['hello 1', 'miss']);
    // The third is answered while the second still waits for the backend.
    const second = seen();
    await until('the second request', () => origin.seen('/hello').length === 2);
    expect(await seen()).toEqual(['hello 3', 'marker']);
    release();
    expect(await second).toEqual(['hello 2', 'marker']);
    // A response for all replaces the marker.
    expect(await seen()).toEqual(['hello 4', 'marker']);
    expect(await seen()).toEqual(['hello 4', 'hit']);
  },

  'retry-after': async ({ origin, get }) => {
    origin.on('/gone', [{ reset: true }]);
    const maintenance = await get('/maintenance');
    expect([maintenance.status, maintenance.reason, field(maintenance, 'Retry-After')]).toEqual([
      503,
      'Maintenance',
      '120',
    ]);
    expect(maintenance.body.toString()).toBe('Back in two minutes.\n');
    const blocked = await get('/blocked');
    expect([blocked.status, field(blocked, 'Retry-After')]).toEqual([403, '5']);
    expect(blocked.body.toString()).toContain('<h1>');
    const gone = await get('/gone');
    expect([gone.status, field(gone, 'Retry-After')]).toEqual([503, '30']);
    expect(gone.body.toString()).toBe('The site is not available at the moment.\n');
    expect(origin.requests.every(({ url }) => url === '/gone')).toBe(true);
  },

  cookies: async ({ origin, body }) => {
    for (const url of ['/', '/style.css?v=2']) counted(origin, url);
    expect(await body('/', { Cookie: '_ga=1; theme=dark' })).toBe('/ 1');
    expect(await body('/', { Cookie: '_ga=2' })).toBe('/ 1');
    expect(await body('/')).toBe('/ 1');
    expect(await body('/', { Cookie: '_ga=1; session=x; theme=dark' })).toBe('/ 2');
    expect(origin.seen('/')[0]?.head).not.toMatch(/^cookie:/im);
    expect(origin.seen('/')[1]?.head).toMatch(/^cookie: session=x;?\r$/im);
    expect(await body('/style.css?v=2', { Cookie: 'session=x' })).toBe('/style.css?v=2 1');
    expect(await body('/style.css?v=2', { Cookie: 'session=y' })).toBe('/style.css?v=2 1');
  },

  'query-string': async ({ origin, body }) => {
    for (const url of ['/p?a=1&b=2', '/p', '/p?my_utm_x=1']) counted(origin, url);
    expect(await body('/p?b=2&utm_source=mail&a=1')).toBe('/p?a=1&b=2 1');
    expect(await body('/p?a=1&b=2&gclid=7')).toBe('/p?a=1&b=2 1');
    expect(await body('/p?utm_source=a&utm_medium=b&fbclid&b=2&a=1')).toBe('/p?a=1&b=2 1');
    expect(await body('/p?utm_source=mail')).toBe('/p 1');
    expect(await body('/p?')).toBe('/p 1');
    expect(await body('/p')).toBe('/p 1');
    expect(await body('/p?my_utm_x=1')).toBe('/p?my_utm_x=1 1');
  },

  grace: async ({ origin, body }) => {
    const { held, release } = promise();
    const healthy: Action[] = [...respond('200 OK', { Connection: 'close' }), { close: true }];
    origin.on('/health', healthy);
    origin.on('/news', (_, n) => {
      const reply = respond('200 OK', { 'Cache-Control': 'max-age=1' }, `news ${n}`);
      return n === 2 ? [{ hold: held }, ...reply] : reply;
    });
    expect(await body('/news')).toBe('news 1');
    // Once its second is over the old copy still serves, while the backend has not answered yet.
    await until('a refresh', async () => {
      expect(await body('/news')).toBe('news 1');
      return origin.seen('/news').length === 2;
    });
    expect(await body('/news')).toBe('news 1');
    release();
    await until('the new copy', async () => (await body('/news')) !== 'news 1');
  },

  'private-ca': async ({ origin, body }) => {
    origin.on('/', respond('200 OK', CACHED, 'over TLS'));
    expect(await body('/')).toBe('over TLS');
    expect(origin.handshakes).toMatchObject([{ servername: 'origin.internal' }]);
  },
  throttling: async ({ origin, get }) => {
    origin.on('/login', respond('200 OK', {}, 'in'));
    origin.on('/', respond('200 OK', {}, 'home'));
    const login = async (): Promise<number> =>
      (await get('/login', {}, { method: 'POST', body: 'x' })).status;
    for (let i = 0; i < 5; i++) expect(await login()).toBe(200);
    const denied = await get('/login', {}, { method: 'POST', body: 'x' });
    expect([denied.status, denied.reason]).toEqual([429, 'Too Many Requests']);
    expect(origin.seen('/login').length).toBe(5);
    expect((await get('/')).status).toBe(200);
  },

  canary: async ({ origin, other, get, body }) => {
    for (const url of ['/', '/b']) {
      origin.on(url, (_, n) => respond('200 OK', CACHED, `stable ${n}`));
      other.on(url, (_, n) => respond('200 OK', CACHED, `canary ${n}`));
    }
    expect(await body('/', { Cookie: 'release=canary' })).toBe('canary 1');
    expect(await body('/', { Cookie: 'a=b; release=stable; c=d' })).toBe('stable 1');
    expect(await body('/', { Cookie: 'a=b; release=canary' })).toBe('canary 1');
    const known = await get('/', { Cookie: 'release=stable' });
    expect(field(known, 'Set-Cookie')).toBeUndefined();
    // A cookie that only looks like it, and a header that a client sends itself, choose nothing.
    const fresh = await get('/b', { Cookie: 'xrelease=canary', 'X-Release': 'nonsense' });
    const [, group = ''] = /^release=(stable|canary); /.exec(field(fresh, 'Set-Cookie') ?? '') ?? [];
    expect(fresh.body.toString()).toBe(`${group} 1`);
    expect(field(fresh, 'Cache-Control')).toBe('private');
    expect(await body('/b', { Cookie: `release=${group}` })).toBe(`${group} 1`);
  },

  devices: async ({ origin, get }) => {
    origin.on('/', ({ head }, n) =>
      respond('200 OK', CACHED, `${/^x-device: (\w+)/im.exec(head)?.[1]} ${n}`),
    );
    origin.on('/v', respond('200 OK', { ...CACHED, Vary: 'Accept-Language' }, 'v'));
    const as = async (agent: string): Promise<string> => {
      const answer = await get('/', { 'User-Agent': agent });
      expect(field(answer, 'Vary')).toBe('User-Agent');
      return answer.body.toString();
    };
    expect(await as('Mozilla/5.0 (iPhone) Mobile')).toBe('phone 1');
    expect(await as('Mozilla/5.0 (X11; Linux)')).toBe('desktop 2');
    expect(await as('Mozilla/5.0 (Linux; Android 14) Mobile')).toBe('phone 1');
    expect(await as('curl/8')).toBe('desktop 2');
    expect(field(await get('/v'), 'Vary')).toBe('Accept-Language, User-Agent');
  },

  'purge-by-key': async ({ origin, get, body }) => {
    for (const [url, keys] of [
      ['/17', 'article-17 author-4'],
      ['/latest', 'article-17 article-18'],
      ['/19', 'article-19'],
    ] as const) {
      counted(origin, url, { ...CACHED, xkey: keys });
      expect(await body(url)).toBe(`${url} 1`);
    }
    expect(field(await get('/17'), 'xkey')).toBeUndefined();
    const purged = await get('/', { xkey: 'article-17' }, { method: 'PURGE' });
    expect([purged.status, purged.reason, field(purged, 'X-Purged')]).toEqual([200, 'Purged', '2']);
    expect(await body('/17')).toBe('/17 2');
    expect(await body('/latest')).toBe('/latest 2');
    expect(await body('/19')).toBe('/19 1');
    expect((await get('/', {}, { method: 'PURGE' })).status).toBe(400);
  },

  esi: async ({ origin, body }) => {
    origin.on('/page', (_, n) =>
      respond(
        '200 OK',
        { ...CACHED, 'Content-Type': 'text/html' },
        `<p>page ${n}</p><esi:include src="/basket"/>`,
      ),
    );
    origin.on('/basket', ({ head }, n) =>
      respond('200 OK', CACHED, `basket ${n} of ${/^cookie: (\S+)/im.exec(head)?.[1] ?? 'nobody'}`),
    );
    expect(await body('/page')).toBe('<p>page 1</p>basket 1 of nobody');
    expect(await body('/page', { Cookie: 'user=ann' })).toBe('<p>page 1</p>basket 2 of user=ann');
    expect(await body('/page', { Cookie: 'user=bob' })).toBe('<p>page 1</p>basket 3 of user=bob');
    expect(origin.seen('/page')[0]?.head).not.toMatch(/cookie/i);
  },

  'stale-on-error': async ({ origin, get, body }) => {
    type State = 'good' | 'bad' | 'broken' | 'new';
    let state: State = 'good';
    const replies: Record<State, Reply> = {
      good: respond('200 OK', { 'Cache-Control': 'max-age=1' }, 'good'),
      bad: respond('500 Oops', {}, 'bad'),
      broken: [{ reset: true }],
      new: respond('200 OK', { 'Cache-Control': 'max-age=1' }, 'new'),
    };
    origin.on('*', () => replies[state]);
    expect(await body('/news')).toBe('good');
    for (const failing of ['bad', 'broken'] as const) {
      state = failing;
      const before = origin.seen('/news').length;
      await until('two refreshes that fail', async () => {
        expect(await body('/news')).toBe('good');
        return origin.seen('/news').length >= before + 2;
      });
      expect(await body('/news')).toBe('good');
    }
    state = 'bad';
    expect((await get('/never-seen')).status).toBe(500);
    state = 'new';
    await until('the new copy', async () => (await body('/news')) === 'new');
  },
};

/** Those that are included by programs, and tested with them. */
const PARTS = ['invalidate.vcl'];

it('all recipes are played', () => {
  const files = readdirSync(RECIPES).filter((name) => !PARTS.includes(name));
  expect(files.sort()).toEqual(
    Object.keys(PLAYS)
      .map((name) => `${name}.vcl`)
      .sort(),
  );
});

describe.each<Product>(['proxyd', 'varnish'])('on %s', (product) => {
  const present = product === 'proxyd' || installed('varnishd');
  if (!present) console.warn('The recipes are not played on Varnish: varnishd is not installed.');

  describe.skipIf(!present)('a recipe works as documented', () => {
    const box = new Sandbox('proxyd-recipes');
    const origins: Origin[] = [];
    let proxy: RunningProxy;
    beforeAll(async () => {
      proxy = await startProxy(box, { product, backend: 'none', args: [] });
    });
    afterAll(async () => {
      await Promise.all(origins.map((origin) => origin.close()));
      await box.dispose();
    });

    it.each(Object.keys(PLAYS).filter((name) => product === 'proxyd' || !OURS.includes(name)))(
      '%s',
      async (name) => {
        const secure = name === 'private-ca' ? privateAuthority(box.path('authority')) : null;
        const [origin, other] = [await Origin.start(0, secure?.origin), await Origin.start()];
        origins.push(origin, other);
        const text = readFileSync(`${RECIPES}/${name}.vcl`, 'utf8');
        const file = `${box.path(name)}.vcl`;
        writeFileSync(
          file,
          text
            .replaceAll('"8081"', `"${origin.port}"`)
            .replaceAll('"8082"', `"${other.port}"`)
            .replace('/etc/ssl/private-ca.pem', secure?.file ?? ''),
        );
        expect(await proxy.adm('vcl.load', name, file)).toMatchObject({ code: 0 });
        expect(await proxy.adm('vcl.use', name)).toMatchObject({ code: 0 });
        // The cache is one for all recipes: each has a host of its own.
        const get: Site['get'] = (path, fields = {}, options = {}) =>
          proxy.get(path, { host: `${name}.test`, fields, ...options });
        const body: Site['body'] = async (path, fields) => {
          const answer = await get(path, fields);
          expect([path, answer.status, answer.complete]).toEqual([path, 200, true]);
          return answer.body.toString();
        };
        await PLAYS[name]?.({ origin, other, get, body });
      },
    );
  });
});
