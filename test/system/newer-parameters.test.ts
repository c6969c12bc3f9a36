// Parameters of later releases of Varnish in a running daemon: what they change for clients, in the log and the counters.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { exchange } from '../harness/raw-exchange.ts';

const box = new Sandbox('proxyd-newer-parameters');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000', Vary: 'X-Kind' }, 'hello'));
  origin.on('/private', respond('200 OK', { 'Cache-Control': 'private' }, 'hello'));
  const params = { worker_threads: '1', ban_lurker_sleep: '0', default_grace: '1m' };
  proxy = await startProxy(box, { program: backendProgram(origin.port), params });
});
afterAll(async () => {
  await proxy.stop();
  await origin.close();
  await box.dispose();
});

async function set(name: string, value: string): Promise<void> {
  expect(await proxy.adm('param.set', name, value)).toMatchObject({ code: 0 });
}

const shown = async (name: string): Promise<string | undefined> =>
  /Value is: (.*)/.exec((await proxy.adm('param.show', name)).stdout)?.[1];

describe('parameters', () => {
  it('take lengths of time and sizes with units, at the start as well', async () => {
    expect(await shown('default_grace')).toBe('60.000 [seconds]');
    await set('default_keep', '1h');
    expect(await shown('default_keep')).toBe('3600.000 [seconds]');
    await set('gzip_buffer', '64k');
    expect(await shown('gzip_buffer')).toBe('64k [bytes]');
  });

  it('are shown after a reset that asks for JSON', async () => {
    const { stdout } = await proxy.adm('param.reset', '-j', 'default_keep');
    const [version, words, , row] = JSON.parse(stdout) as unknown[];
    expect([version, words]).toEqual([2, ['param.reset', '-j', 'default_keep']]);
    expect(row).toMatchObject({ name: 'default_keep', value: 0, default: '0.000' });
  });

  it('of never let requests take their time', async () => {
    for (const name of ['connect_timeout', 'first_byte_timeout', 'between_bytes_timeout', 'send_timeout'])
      await set(name, 'never');
    for (const name of ['idle_send_timeout', 'pipe_timeout', 'cli_timeout', 'startup_timeout'])
      await set(name, 'never');
    expect((await proxy.get('/never')).status).toBe(200);
    expect(await shown('cli_timeout')).toBe('never [seconds]');
    for (const name of ['idle_send_timeout', 'pipe_timeout', 'cli_timeout', 'startup_timeout'])
      await proxy.adm('param.reset', name);
  });
});

describe('http_req_overflow_status', () => {
  const large = `GET / HTTP/1.1\r\nHost: a\r\n${`X-A: ${'a'.repeat(4000)}\r\n`.repeat(10)}\r\n`;
  it.each([
    ['0', ''],
    ['414', 'HTTP/1.1 414 Request-URI Too Long\r\n\r\n'],
    ['431', 'HTTP/1.1 431 Request Header Fields Too Large\r\n\r\n'],
    ['499', 'HTTP/1.1 499 Unknown HTTP Status\r\n\r\n'],
    ['500', 'HTTP/1.1 500 Internal Server Error\r\n\r\n'],
  ])('%s answers a head that is too large with %j', async (status, answer) => {
    await set('http_req_overflow_status', status);
    // The rest of the head is not read, so that it may be answered with a reset.
    const output = await exchange({ port: proxy.port }, large.slice(0, 33_000));
    expect(output).toBe(answer);
    await proxy.logged('SessClose      RX_OVERFLOW', '-g', 'session');
    // Records of no transaction, as in Varnish 7.7.
    const answered = new RegExp(`^ +0 RespStatus +- ${status}$`, 'm');
    if (answer === '') expect(await proxy.log('-g', 'raw')).not.toMatch(answered);
    else await proxy.logged(answered, '-g', 'raw');
  });
});

describe('ban_any_variant', () => {
  it.each([
    ['10000', 2],
    ['0', 1],
    ['1', 1],
  ])('%s limits the objects of a key that a lookup tests against bans', async (value, killed) => {
    await set('ban_any_variant', value);
    const url = `/variants-${value}`;
    const kinds = ['a', 'b', 'c'];
    for (const kind of kinds) await proxy.get(url, { fields: { 'X-Kind': kind } });
    await proxy.adm('ban', 'obj.http.Vary', '~', 'Kind', '&&', 'req.url', '==', url);
    const before = (await proxy.counters())['MAIN.bans_obj_killed'] ?? 0;
    // Objects are looked at newest first.
    await proxy.get(url, { fields: { 'X-Kind': value === '10000' ? 'b' : 'a' } });
    const found = ((await proxy.counters())['MAIN.bans_obj_killed'] ?? 0) - before;
    expect(found).toBeGreaterThanOrEqual(killed);
    expect(found).toBeLessThanOrEqual(value === '10000' ? 3 : value === '1' ? 2 : 1);
  });
});

describe('uncacheable_ttl', () => {
  it('is how long the builtin program remembers what is uncacheable', async () => {
    await set('uncacheable_ttl', '7');
    await proxy.get('/private');
    await proxy.logged('TTL            VCL 7 ', '-q', 'BereqURL eq "/private"');
  });
});
