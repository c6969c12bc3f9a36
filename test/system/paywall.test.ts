// The paywall in a running proxy, with the example program and an authorisation service that is right, slow, down and
// lying: protected content leaves the cache past the gate alone, and requests that have nothing to do with the service
// do not wait for it.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ClientConnection, field, type Response, requestText } from '../harness/http-client.ts';
import { type Action, Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-paywall');
const KEY = box.path('key');
const EXAMPLE = readFileSync(`${ROOT}daemon/vcl/examples/paywall.vcl`, 'utf8');
const JSON_TYPE = { 'Content-Type': 'application/json' };

let origin: Origin;
let service: Origin;
let proxy: RunningProxy;
let loads = 0;

const says = (answer: object) => respond('200 OK', JSON_TYPE, JSON.stringify(answer));

function program(settings: string, keyFile = KEY): string {
  return EXAMPLE.replace('8080', String(origin.port))
    .replace('/etc/proxyd/paywall.key', keyFile)
    .replace('127.0.0.1:9000', `127.0.0.1:${service.port}`)
    .replace('free = 3, period = 30d', settings);
}

/** A new program is a new gate, which remembers nothing. */
async function use(settings: string): Promise<void> {
  const name = `gate${++loads}`;
  const file = box.path(name);
  writeFileSync(file, program(settings));
  expect(await proxy.adm('vcl.load', name, file)).toMatchObject({ code: 0 });
  await proxy.adm('vcl.use', name);
}

/** The cookie of an answer, as a client sends it back. */
const cookieOf = (answer: Response): string => (field(answer, 'set-cookie') ?? '').split(';')[0] ?? '';
const get = (path: string, cookie = '') =>
  proxy.get(path, { fields: cookie === '' ? {} : { Cookie: cookie } });

beforeAll(async () => {
  writeFileSync(KEY, 'k'.repeat(32));
  chmodSync(KEY, 0o600);
  origin = await Origin.start();
  service = await Origin.start();
  origin.on('/open', respond('200 OK', {}, 'open'));
  for (const path of ['/m1', '/m2'])
    origin.on(path, respond('200 OK', { 'X-Paywall': 'metered' }, 'a story'));
  origin.on('/s', respond('200 OK', { 'X-Paywall': 'subscribers' }, 'secret'));
  origin.on('/two', [
    {
      send: 'HTTP/1.1 200 OK\r\nX-Paywall: metered\r\nX-Paywall: subscribers\r\nContent-Length: 6\r\n\r\nsecret',
    },
  ]);
  // A daemon run by root would give the worker another user, who could not read the file. Each thread has its own
  // pending questions.
  const params = { worker_threads: '1' };
  proxy = await startProxy(box, { program: program('free = 2'), args: ['-j', 'none'], params });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
  await service.close();
});
beforeEach(() => {
  service.requests.length = 0;
});

it('gives free views of metered content, from the cache too, and then none', async () => {
  await use('free = 2');
  const first = await get('/m1');
  expect([first.status, first.body.toString(), field(first, 'x-views-left')]).toEqual([200, 'a story', '1']);
  expect(field(first, 'set-cookie')).toMatch(
    /^paywall=1\.\S+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
  );
  expect([field(first, 'x-paywall'), field(first, 'cache-control')]).toEqual([
    undefined,
    'private, no-store',
  ]);
  const second = await get('/m1', cookieOf(first));
  expect([second.status, field(second, 'x-views-left')]).toEqual([200, '0']);
  const third = await get('/m2', cookieOf(second));
  expect([third.status, third.body.includes('a story')]).toEqual([402, false]);
  expect((await get('/m1', cookieOf(first))).status).toBe(402);
  // A cut cookie is none: its reader begins again.
  expect(field(await get('/m1', cookieOf(second).slice(0, -1)), 'x-views-left')).toBe('1');
  expect((await get('/open', cookieOf(second))).status).toBe(200);
  expect(service.requests).toEqual([]);
  expect(origin.requests.filter((r) => r.url === '/m1').length).toBe(1);
});

it('takes one view for a page with its fragments and its restarts', async () => {
  origin.on(
    '/page',
    respond('200 OK', { 'X-Paywall': 'metered' }, '<esi:include src="/m1"/>, <esi:include src="/s"/>'),
  );
  const file = box.path('fragments');
  const again =
    'sub vcl_deliver { if (req.url == "/page" && req.restarts == 0 && gate.check(req.http.X-Cookie, "metered")) { return (restart); } }';
  writeFileSync(
    file,
    program('free = 3')
      .replace('sub vcl_deliver', `${again}\nsub vcl_deliver`)
      .replace('std.collect', 'set beresp.do_esi = true; std.collect'),
  );
  expect(await proxy.adm('vcl.load', 'fragments', file)).toMatchObject({ code: 0 });
  await proxy.adm('vcl.use', 'fragments');
  await proxy.adm('ban', 'req.url ~ .');
  const page = await get('/page');
  expect([page.status, field(page, 'x-views-left')]).toEqual([200, '2']);
  expect(page.body.toString()).toContain('a story, ');
  expect(page.body.toString()).not.toContain('secret');
  expect(field(await get('/m1', cookieOf(page)), 'x-views-left')).toBe('1');
});

it('serves what is for subscribers from the cache to them alone', async () => {
  await use('free = 2');
  service.on('/access', (request) =>
    says(
      JSON.parse(request.body.toString()).session === 'good'
        ? { access: 'allow', user: 'u1', seconds: 600 }
        : { access: 'deny' },
    ),
  );
  expect((await get('/s')).status).toBe(402);
  const fetched = origin.requests.filter((r) => r.url === '/s').length;
  const good = await get('/s', 'session=good');
  expect([good.status, good.body.toString()]).toEqual([200, 'secret']);
  expect((await get('/s')).status).toBe(402);
  expect((await get('/s', 'session=bad')).status).toBe(403);
  expect((await get('/s', 'session=bad')).status).toBe(403);
  expect((await get('/two', 'session=good')).status).toBe(402);
  expect(origin.requests.filter((r) => r.url === '/s').length).toBe(fetched);
  expect(service.requests.map((r) => JSON.parse(r.body.toString()))).toEqual([
    { session: 'good', protection: 'subscribers' },
    { session: 'bad', protection: 'subscribers' },
  ]);
  // A new gate has no answers, and the cookie is valid for its own session.
  await use('free = 2');
  expect((await get('/s', `session=good; ${cookieOf(good)}`)).status).toBe(200);
  expect(service.requests.length).toBe(2);
  expect((await get('/s', `session=bad; ${cookieOf(good)}`)).status).toBe(403);
  const log = await proxy.logged('paywall: gate: entitled', '-g', 'raw', '-i', 'VCL_Log');
  expect(log).not.toContain('good');
});

it('asks once for many, and holds up no other request', async () => {
  await use('free = 2, timeout = 20s');
  let answer = (): void => undefined;
  const held = new Promise<void>((done) => {
    answer = done;
  });
  service.on('/access', () => [{ hold: held }, ...says({ access: 'allow' })]);
  const order: string[] = [];
  const waiting = [1, 2, 3].map(() => get('/s', 'session=slow').then((r) => order.push(`slow ${r.status}`)));
  await expect.poll(() => service.requests.length).toBe(1);
  for (const path of ['/open', '/m1']) order.push(`${path} ${(await get(path)).status}`);
  answer();
  await Promise.all(waiting);
  expect(order).toEqual(['/open 200', '/m1 200', 'slow 200', 'slow 200', 'slow 200']);
  expect(service.requests.length).toBe(1);
});

const never: Action = { hold: new Promise(() => undefined) };
const half =
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"access":"allow"}';
it.each<[string, Action[], string]>([
  ['slow', [never], 'no answer within 0.3 s'],
  ['slow in the middle', [{ send: half }, never], 'no answer within 0.3 s'],
  ['gone', [{ reset: true }], 'ECONNRESET'],
  ['broken', [...respond('500 Oops', JSON_TYPE, '{"access":"allow"}')], 'status 500'],
  ['elsewhere', [...respond('302 Found', { Location: '/other' })], 'a redirect (status 302)'],
  ['a page', [...respond('200 OK', { 'Content-Type': 'text/html' }, '{"access":"allow"}')], 'is no JSON'],
  ['nonsense', [...respond('200 OK', JSON_TYPE, '{"access":"allow"')], 'malformed'],
  ['of another kind', [...says({ access: true })], 'malformed'],
  [
    'huge',
    [...respond('200 OK', JSON_TYPE, `${' '.repeat(20_000)}{"access":"allow"}`)],
    'more than 16384 bytes',
  ],
  ['cut', [{ send: half }, { close: true }], 'half an answer'],
])('a service that is %s opens nothing', async (_name, reply, words) => {
  await use(`timeout = ${words.includes('0.3 s') ? '0.3s' : '20s'}`);
  service.on('/access', reply);
  service.on('/other', says({ access: 'allow' }));
  const answer = await get('/s', 'session=any');
  expect([answer.status, answer.body.includes('secret')]).toEqual([503, false]);
  await proxy.logged(words, '-g', 'raw', '-i', 'VCL_Error');
});

it.each([
  ['allow', [200, 200]],
  ['metered', [200, 402]],
  ['deny', [503, 503]],
])('on_error = %s decides while the service fails, which is then left alone', async (choice, wanted) => {
  await use(`free = 1, on_error = ${choice}`);
  service.on('/access', respond('500 Oops'));
  const first = await get('/s', 'session=a');
  const second = await get('/s', `session=b; ${cookieOf(first)}`);
  expect([first.status, second.status]).toEqual(wanted);
  for (const session of ['c', 'd', 'e']) await get('/s', `session=${session}`);
  expect(service.requests.length).toBe(3);
});

it.each([
  ['others may read', 'k'.repeat(32), 0o640, 'chmod 600'],
  ['is short', 'hush-hush', 0o600, 'must have at least 32 bytes'],
])('a key file that %s refuses the program without showing the key', async (_name, key, mode, words) => {
  const file = box.path(`key${mode}`);
  writeFileSync(file, key);
  chmodSync(file, mode);
  const refused = box.path('refused');
  writeFileSync(refused, program('free = 2', file));
  const { code, stdout, stderr } = await proxy.adm('vcl.load', `refused${mode}`, refused);
  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain(words);
  expect(stdout + stderr).not.toContain(key);
});

it('asks once for all threads, one after the other, and they leave a failing service alone together', async () => {
  const params = { worker_threads: '4' };
  const threads = await startProxy(box, { program: program('free = 1'), args: ['-j', 'none'], params });
  const all = await Promise.all(Array.from({ length: 16 }, () => ClientConnection.open(threads.port)));
  const ask = async (i: number, session: string): Promise<number> => {
    const connection = all[i % all.length] as ClientConnection;
    connection.send(requestText('/s', { fields: { Cookie: `session=${session}` } }));
    return (await connection.response()).status;
  };
  service.on('/access', says({ access: 'allow' }));
  for (let i = 0; i < 16; i++) expect(await ask(i, 'good')).toBe(200);
  expect(service.requests.length).toBe(1);
  service.on('/access', respond('500 Oops'));
  for (let i = 0; i < 16; i++) expect(await ask(i, `other${i}`)).toBe(503);
  expect(service.requests.length).toBe(1 + 3);
  for (const connection of all) connection.close();
  await threads.stop();
});
