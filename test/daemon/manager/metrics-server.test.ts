import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MetricsServer } from '../../../daemon/manager/metrics-server.ts';
import { exchange } from '../../harness/raw-exchange.ts';

let server: MetricsServer;
let port: number;

beforeEach(async () => {
  server = new MetricsServer(() => ['proxyd_up ', '1\n'], ['Metrics.Example', 'odd.example:7000']);
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
  expect(performance.now() - began).toBeLessThan(1000);
  for (const socket of crowd) socket.destroy();
});
