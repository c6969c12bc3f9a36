// The demo's editor: changes something now and then, and has it purged, here and at the edge network. By URL, hard and
// soft, by surrogate key, and by a ban in turns, so that each can be seen in the log and in the view of the edge.

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

/** @param ports of the proxies, which are asked in turns
 * @param told gets a line for each purge: what, and the proxy's answer */
export function startEditor(ports: readonly number[], told: (line: string) => void): { stop(): void } {
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
        response.on('end', () => told(`${method} ${what}: ${fleet ?? text}`));
        response.on('error', () => undefined);
      },
    );
    sent.on('error', () => undefined);
    sent.end();
  }, EVERY_MS);
  return { stop: () => clearInterval(timer) };
}
