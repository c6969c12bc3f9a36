// The demo's editor: every few seconds it invalidates a page, here and in the edge network. Hard and soft purges by URL,
// purges by surrogate key and bans alternate, so that the log and the edge view show each of them.

import { request } from 'node:http';

const EVERY_MS = 4000;

interface Change {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const CHANGES: readonly ((n: number) => Change)[] = [
  (n) => ({ method: 'PURGE', path: `/products/${n % 8}` }),
  (n) => ({ method: 'SOFTPURGE', path: `/img/${n % 6}.svg` }),
  (n) => ({ method: 'PURGE', path: '/', headers: { xkey: `product-${n % 8}` } }),
  () => ({
    method: 'BAN',
    path: '/',
    headers: { 'x-ban': 'req.http.host == shop.example && req.url ~ ^/articles/' },
  }),
];

/**
 * @param ports of the proxies, used in turns
 * @param log gets a line per purge: its kind and the proxy's response
 */
export function startEditor(ports: readonly number[], log: (line: string) => void): { stop(): void } {
  let turn = 0;
  const timer = setInterval(() => {
    const { method, path, headers = {} } = (CHANGES[turn % CHANGES.length] as (n: number) => Change)(turn);
    const port = ports[turn % ports.length];
    turn++;
    const what = Object.values(headers)[0] ?? path;
    const sent = request(
      { host: '127.0.0.1', port, method, path, headers: { Host: 'shop.example', ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
        });
        const fleet = response.headers['x-fleet'];
        response.on('end', () => log(`${method} ${what}: ${fleet ?? text}`));
        response.on('error', () => undefined);
      },
    );
    sent.on('error', () => undefined);
    sent.end();
  }, EVERY_MS);
  return { stop: () => clearInterval(timer) };
}
