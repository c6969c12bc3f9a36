import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MetricsServer } from '../../../../daemon/manager/endpoints/metrics-server.ts';
import { exchange } from '../../../harness/raw-exchange.ts';

let server: MetricsServer;
let port: number;
/** Pages that were begun. */
let made = 0;
/** Whether those that are begun have no end, and pieces that were taken of them beyond the usual. */
let isEndless = false;
let taken = 0;
/** Pages are begun once it is open. */
let gate = Promise.resolve();

async function page(): Promise<Generator<string>> {
  made++;
  await gate;
  return pieces();
}

function* pieces(): Generator<string> {
  yield 'proxyd_up ';
  yield '1\n';
  for (const goesOn = isEndless; goesOn; taken++) yield '';
}

beforeEach(async () => {
  made = 0;
  server = new MetricsServer(page, ['Metrics.Example', 'odd.example:7000']);
  port = await server.listen('127.0.0.1', 0);
});
afterEach(() => server.close());

const get = (host: string): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/metrics', headers: { Host: host } }, (res) => {
      let body = '';
      res.on('data', (d) => {
        body += d;
      });
      res.on('end', () => resolve({ status: res.statusCode ?? 0, body }));
    })
      .on('error', reject)
      .end();
  });

describe('a name that leads here', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1:9131',
    '127.1.2.3',
    'localhost',
    'LOCALHOST:80',
    'localhost.',
    '[::1]',
    '[::1]:9131',
    'metrics.example',
    'METRICS.EXAMPLE:9131',
    'odd.example:7000',
  ])('%s is answered', async (host) => {
    expect(await get(host)).toEqual({ status: 200, body: 'proxyd_up 1\n' });
  });

  it.each([
    'evil.example',
    'evil.example:9131',
    'localhost.evil.example',
    'evil-localhost',
    '127.0.0.1.evil.example',
    '192.0.2.1',
    '[2001:db8::1]',
    'odd.example',
    'odd.example:7001',
    'a"b',
  ])('%s is not', async (host) => {
    const { status, body } = await get(host);
    expect(status).toBe(403);
    expect(body).toContain('--allow-host');
    expect(body).not.toContain('proxyd_up');
  });

  it('is not needed without a Host, which no browser leaves out', async () => {
    expect(await exchange({ port }, 'GET /metrics HTTP/1.0\r\n\r\n')).toContain('proxyd_up 1');
  });
});

it('a crowd of silent connections keeps nobody out', async () => {
  const crowd = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(crowd.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  const began = performance.now();
  expect((await get('localhost')).status).toBe(200);
  // Not only when the silent ones have had their time.
  expect(performance.now() - began).toBeLessThan(4500);
  for (const socket of crowd) socket.destroy();
});

it('makes one page at a time, and one for all clients meanwhile', async () => {
  let open = (): void => {};
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const first = get('localhost');
  await expect.poll(() => made).toBe(1);
  const others = Array.from({ length: 19 }, () => get('localhost'));
  // Once these are answered the others have been taken in.
  for (let i = 0; i < 3; i++) expect((await get('evil.example')).status).toBe(403);
  expect(made).toBe(1);
  open();
  expect(await first).toEqual({ status: 200, body: 'proxyd_up 1\n' });
  await Promise.all(others);
  expect(made).toBe(2);
  await get('localhost');
  expect(made).toBe(3);
});

it('answers those who ask after a page that could not be made', async () => {
  gate = Promise.reject(new Error('no reading'));
  gate.catch(() => undefined);
  expect(await get('localhost')).toEqual({ status: 503, body: 'no reading\n' });
  gate = Promise.resolve();
  expect((await get('localhost')).status).toBe(200);
});

it('stops making a page when nobody is there any more who asked for it', async () => {
  isEndless = true;
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => taken).toBeGreaterThan(100);
  isEndless = false;
  socket.destroy();
  expect(await get('localhost')).toEqual({ status: 200, body: 'proxyd_up 1\n' });
});
