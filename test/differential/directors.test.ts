// Which backend serves which key: the same program in Varnish's daemon and in proxyd, ten thousand keys, with all
// backends healthy and with some sick. A mixed fleet must keep its distribution, so every answer has to be equal.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field } from '../harness/http-client.ts';
import { freePort } from '../harness/origin.ts';
import { installed, Sandbox } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';

const there = installed('varnishd');
if (!there) console.warn('differential tests skipped: varnishd is not installed');

const KEYS = Array.from({ length: 10_000 }, (_, i) => `/item/${(i * 2654435761) % 1_000_003}?page=${i % 17}`);
const PROGRAM = readFileSync(new URL('directors-mapping.vcl', import.meta.url), 'utf8');
const BATCH = 200;

/** Names of the header fields that the program sets, in a branch of it. */
function columns(message: string): string[] {
  return [...PROGRAM.matchAll(new RegExp(`set ${message}\\.http\\.([a-z0-9-]+) =`, 'g'))].map(
    (m) => m[1] ?? '',
  );
}

/** What the program said for each key, by column. */
async function ask(
  proxy: RunningProxy,
  prefix: string,
  keys: readonly string[],
  names: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>(names.map((n) => [n, []]));
  const connection = await ClientConnection.open(proxy.port, 20_000);
  for (let from = 0; from < keys.length; from += BATCH) {
    const batch = keys.slice(from, from + BATCH);
    connection.send(batch.map((k) => `GET ${prefix}${k} HTTP/1.1\r\nHost: fleet.test\r\n\r\n`).join(''));
    for (const key of batch) {
      const response = await connection.response('GET');
      if (response.status !== 200) throw new Error(`${prefix}${key}: ${response.status}`);
      for (const name of names) found.get(name)?.push(field(response, name) ?? '');
    }
  }
  connection.close();
  return found;
}

describe.skipIf(!there)('the backend of every key', () => {
  const box = new Sandbox('proxyd-directors');
  const proxies: RunningProxy[] = [];
  beforeAll(async () => {
    const program = PROGRAM.replaceAll('@DEAD@', String(await freePort()));
    const start = (product: Product) => startProxy(box, { product, program });
    proxies.push(...(await Promise.all([start('varnish'), start('proxyd')])));
  }, 60_000);
  afterAll(() => box.dispose());

  const client = columns('resp');
  const fetch = columns('beresp');
  const both = <T>(what: (proxy: RunningProxy) => Promise<T>): Promise<T[]> => Promise.all(proxies.map(what));
  const compare = (seen: Map<string, string[]>[], keys: readonly string[]): void => {
    const [reference, ours] = seen;
    const differing: string[] = [];
    for (const [name, wanted] of reference ?? []) {
      const got = ours?.get(name) ?? [];
      const at = wanted.findIndex((w, i) => w !== got[i]);
      const count = wanted.filter((w, i) => w !== got[i]).length;
      if (at >= 0)
        differing.push(`${name}: ${count} differ, ${keys[at]} goes to ${got[at]}, not ${wanted[at]}`);
    }
    expect(differing).toEqual([]);
  };

  it('is asked in more than one way', () => {
    expect(client.length).toBeGreaterThan(25);
    expect(fetch.length).toBeGreaterThan(7);
  });

  it.each([
    ['all are healthy', [] as string[]],
    ['one is sick', ['b2']],
    ['three are sick', ['b2', 'b1', 'b5']],
    ['all but one are sick', ['b1', 'b2', 'b4', 'b5']],
    ['all are sick', ['b1', 'b2', 'b3', 'b4', 'b5']],
  ])(
    'is the same when %s',
    async (_name, sick) => {
      await both(async (proxy) => {
        await proxy.adm('backend.set_health', '*.*', 'auto');
        for (const name of sick) {
          const done = await proxy.adm('backend.set_health', name, 'sick');
          expect(done.stderr).toBe('');
          expect(done.code).toBe(0);
        }
      });
      const keys = sick.length === 0 ? KEYS : KEYS.slice(0, 2000);
      const seen = await both((proxy) => ask(proxy, '', keys, client));
      compare(seen, keys);
      // The keys reach every backend that may be chosen, or the comparison would say little.
      if (sick.length === 0) expect(new Set(seen[0]?.get('s-plain')).size).toBe(5);
      const fetched = keys.slice(0, 1000);
      compare(await both((proxy) => ask(proxy, '/fetch', fetched, fetch)), fetched);
    },
    120_000,
  );
});
