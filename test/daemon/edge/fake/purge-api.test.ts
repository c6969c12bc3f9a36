// The purge API of the fake edge: who is refused, what is wrong with a call, the account's buckets, content control.
import { beforeEach, describe, expect, it } from 'vitest';
import { EdgeCache } from '../../../../daemon/edge/fake/edge-cache.ts';
import { type ApiAnswer, PurgeApi, type PurgeApiParts } from '../../../../daemon/edge/fake/purge-api.ts';
import { ACCOUNT } from '../../../../daemon/edge/fake/purge-buckets.ts';
import { authorization } from '../../../../daemon/edge/providers/edgegrid.ts';
import { EDGE_CREDENTIALS } from '../../../harness/edge-settings.ts';

const HOST = '127.0.0.1:4000';
let now = 0;
let nonces = 0;
let cleared: string[] = [];
let cache: EdgeCache;

function api(more: Partial<PurgeApiParts> = {}): PurgeApi {
  return new PurgeApi({
    credentials: EDGE_CREDENTIALS,
    buckets: ACCOUNT,
    cache,
    network: 'staging',
    cpcode: 7,
    ruleDelay: 0,
    now: () => now,
    cleared: (what, objects, copies) => cleared.push(`${what} ${objects.join(' ')}: ${copies}`),
    ...more,
  });
}

beforeEach(() => {
  now = Date.UTC(2026, 0, 2);
  cleared = [];
  cache = new EdgeCache(() => now, 1 << 20);
});

function keep(host: string, path: string, tags = ''): void {
  const fields = { 'edge-control': 'max-age=1000', 'edge-cache-tag': tags };
  cache.keep(
    cache.fetchBegins(),
    { host, path },
    {},
    { status: 200, rawHeaders: [], fields, body: Buffer.from('x') },
  );
}

interface Options {
  readonly method?: 'GET' | 'POST';
  readonly signedAt?: number;
  readonly nonce?: string;
  readonly secret?: string;
  readonly token?: string;
  readonly header?: string;
}

function call(to: PurgeApi, path: string, body: unknown, o: Options = {}): ApiAnswer {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const parts = { method: o.method ?? 'POST', scheme: 'http' as const, host: HOST, path, body: bytes };
  const credentials = {
    ...EDGE_CREDENTIALS,
    ...(o.secret === undefined ? {} : { clientSecret: o.secret }),
    ...(o.token === undefined ? {} : { clientToken: o.token }),
  };
  const header = o.header ?? authorization(credentials, parts, o.signedAt ?? now, o.nonce ?? `n${++nonces}`);
  const request = { ...parts, authorization: header };
  const read = to.read(request);
  return 'verdict' in read ? read.answer : to.answer(request, read);
}

const URLS = { objects: ['https://www.example.com/a'] };
const DELETE = '/ccu/v3/delete/url/staging';

describe('signatures', () => {
  it.each<[string, Options, number, string]>([
    ['good', {}, 201, ''],
    ['29 s early', { signedAt: Date.UTC(2026, 0, 2) - 29_000 }, 201, ''],
    ['31 s early', { signedAt: Date.UTC(2026, 0, 2) - 31_000 }, 403, 'time stamp'],
    ['31 s late', { signedAt: Date.UTC(2026, 0, 2) + 31_000 }, 403, 'time stamp'],
    ['another secret', { secret: 'guessed' }, 401, 'does not match'],
    ['another client', { token: 'guessed' }, 401, 'not known'],
    ['none', { header: '' }, 401, 'no EdgeGrid signature'],
    ['basic', { header: 'Basic YTpi' }, 401, 'no EdgeGrid signature'],
  ])('%s', (_name, options, status, detail) => {
    const answer = call(api(), DELETE, URLS, options);
    expect([answer.status, String(answer.body.detail)]).toEqual([status, expect.stringContaining(detail)]);
  });

  it('a nonce counts once, and one that was forged costs its owner nothing', () => {
    const to = api();
    expect(call(to, DELETE, URLS, { nonce: 'once', secret: 'guessed' }).status).toBe(401);
    expect(call(to, DELETE, URLS, { nonce: 'once' }).status).toBe(201);
    expect(call(to, DELETE, URLS, { nonce: 'once' }).body.detail).toContain('nonce');
    now += 20_000;
    expect(call(to, DELETE, URLS, { nonce: 'once' }).body.detail).toContain('nonce');
  });

  it('a body that was changed on its way', () => {
    const parts = { method: 'POST', scheme: 'http' as const, host: HOST, path: DELETE };
    const header = authorization(EDGE_CREDENTIALS, { ...parts, body: Buffer.from('{}') }, now, 'changed');
    expect(call(api(), DELETE, URLS, { header }).status).toBe(401);
  });
});

describe('purges', () => {
  it.each([
    ['/ccu/v3/delete/url/staging', ['http://WWW.example.com/a?b=1'], 1],
    ['/ccu/v3/invalidate/url/staging', ['https://www.example.com/a?b=1', 'https://other.example/'], 1],
    ['/ccu/v3/delete/tag/staging', ['red'], 2],
    ['/ccu/v3/invalidate/tag/staging', ['blue', 'red'], 3],
    ['/ccu/v3/delete/cpcode/staging', [7], 3],
    ['/ccu/v3/invalidate/cpcode/staging', [8], 0],
    ['/ccu/v3/delete/url/production', ['https://www.example.com/a?b=1'], 0],
  ])('%s %o', (path, objects, copies) => {
    keep('www.example.com', '/a?b=1', 'red');
    keep('www.example.com', '/b', 'red,green');
    keep('www.example.com', '/c', 'blue');
    const answer = call(api(), path, { objects });
    expect([answer.status, answer.body]).toEqual([
      201,
      expect.objectContaining({ httpStatus: 201, purgeId: 'fake-1', estimatedSeconds: 0 }),
    ]);
    const [, , , kind, type, network] = path.split('/');
    expect(cleared).toEqual([`${kind} ${type} ${network} ${objects.join(' ')}: ${copies}`]);
    expect(cache.size).toBe(kind === 'delete' ? 3 - copies : 3);
  });

  it.each<[string, string, unknown, number]>([
    ['no JSON', DELETE, 'nonsense', 400],
    ['no objects', DELETE, { objects: [] }, 400],
    ['objects that are no array', DELETE, { objects: 'https://a/' }, 400],
    ['one of two is no URL', DELETE, { objects: ['https://a.example/', '/b'] }, 400],
    ['a CP code as text', '/ccu/v3/delete/cpcode/staging', { objects: ['7'] }, 400],
    ['a tag with a comma', '/ccu/v3/delete/tag/staging', { objects: ['a,b'] }, 400],
    ['a long tag', '/ccu/v3/delete/tag/staging', { objects: ['a'.repeat(129)] }, 400],
    ['a large body', DELETE, { objects: [`https://a.example/${'x'.repeat(50_000)}`] }, 413],
    ['another type', '/ccu/v3/delete/host/staging', { objects: ['a'] }, 404],
    ['another path', '/', {}, 404],
  ])('%s', (_name, path, body, status) => {
    keep('a.example', '/');
    expect(call(api(), path, body).status).toBe(status);
    expect(cleared).toEqual([]);
    expect(cache.size).toBe(1);
  });
});

describe('buckets', () => {
  it('hold a burst, fill with time, and say how they stand', () => {
    const to = api({ buckets: { ...ACCOUNT, tag: { burst: 5, perSecond: 0.5 } } });
    const tags = (n: number): ApiAnswer =>
      call(to, '/ccu/v3/delete/tag/staging', { objects: Array.from({ length: n }, (_, i) => `t${i}`) });
    expect(tags(3).status).toBe(201);
    const full = tags(3);
    expect([full.status, full.body]).toEqual([
      429,
      expect.objectContaining({ rateLimit: 5, rateLimitRemaining: 2, rateLimitCurrentRequestSize: 3 }),
    ]);
    expect(full.headers).toMatchObject({
      'X-Ratelimit-Limit-Objects': '5',
      'X-Ratelimit-Limit-Per-Second-Objects': '0.5',
      'X-Ratelimit-Remaining-Objects': '2',
      'X-Ratelimit-Seconds-To-Refresh-Limit-Objects': '6',
      'X-Ratelimit-Limit': '100',
      'X-Ratelimit-Remaining': '99',
    });
    now += 1900;
    expect(tags(3).status).toBe(429);
    now += 100;
    expect(tags(3).status).toBe(201);
    const status = call(to, '/ccu/v3/rate-limit-status/tag', {});
    expect([status.status, status.body]).toEqual([
      200,
      { httpStatus: 200, rateLimit: 5, rateLimitRemaining: 0 },
    ]);
  });

  it('of requests: a hundred at once, fifty a second', () => {
    const to = api();
    const good = (n: number): number =>
      Array.from({ length: n }, () => call(to, DELETE, URLS).status).filter((status) => status === 201)
        .length;
    expect(good(150)).toBe(100);
    now += 1000;
    expect(good(150)).toBe(50);
    expect(call(to, DELETE, URLS).body).toMatchObject({ rateLimit: 100, rateLimitRemaining: 0 });
  });
});

describe('content control', () => {
  const ask = (metadata: string): object => ({
    propertyName: 'www.example.com',
    propertyType: 'HOST_HEADER',
    requestName: 'test',
    metadata,
  });
  const NEWS =
    '<?xml version="1.0"?>\n<eccu><match:request-header operation="name-value-cmp" argument1="Host" argument2="www.example.com"><match:recursive-dirs value="news"><revalidate>now</revalidate></match:recursive-dirs></match:request-header></eccu>';

  it('does its work after its time, and can be asked', () => {
    keep('www.example.com', '/news/1');
    keep('www.example.com', '/other');
    const to = api({ ruleDelay: 60_000 });
    expect(call(to, '/eccu-api/v1/requests', ask(NEWS)).body).toEqual({ requestId: 1, status: 'PENDING' });
    now += 59_000;
    expect(call(to, '/eccu-api/v1/requests/1', '', { method: 'GET' }).body.status).toBe('PENDING');
    expect(cleared).toEqual([]);
    now += 1000;
    expect(call(to, '/eccu-api/v1/requests/1', '', { method: 'GET' }).body.status).toBe('SUCCEEDED');
    expect(cleared).toEqual(['rule invalidate host:www.example.com path:/news/: 1']);
    expect(call(to, '/eccu-api/v1/requests', '', { method: 'GET' }).body).toEqual({
      requests: [{ requestId: 1, status: 'SUCCEEDED' }],
    });
    expect(call(to, '/eccu-api/v1/requests/2', '', { method: 'GET' }).status).toBe(404);
  });

  it.each([
    ['', 'it says nothing'],
    ['<eccu>', 'is not closed'],
    ['<eccu></eccu>', 'it says nothing'],
    ['<other><revalidate>now</revalidate></other>', 'root'],
    ['<eccu><revalidate>now</delete></eccu>', 'closes nothing'],
    ['<eccu>now</eccu>', 'outside of a deed'],
    ['<eccu><match:regex value="x"><revalidate>now</revalidate></match:regex></eccu>', 'not known'],
    [
      '<eccu><match:recursive-dirs value="a/b"><revalidate>now</revalidate></match:recursive-dirs></eccu>',
      'one component',
    ],
    ['plain text', 'character 1'],
  ])('refuses %s', (metadata, detail) => {
    keep('www.example.com', '/');
    const answer = call(api(), '/eccu-api/v1/requests', ask(metadata));
    expect([answer.status, String(answer.body.detail)]).toEqual([400, expect.stringContaining(detail)]);
    expect(cleared).toEqual([]);
  });
});
