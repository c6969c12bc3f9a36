// Private answers under concurrency: clients that ask for a new URL at once each get the one that was made for them, by a fetch
// of their own, however the answers come. PROXYD_PRIVATE_ROUNDS makes it longer. Black box: only dist/ and its commands.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Origin, type OriginRequest, type Reply, respond, respondChunked } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const ROUNDS = Number(process.env.PROXYD_PRIVATE_ROUNDS ?? 6);
const CLIENTS = 12;
const PRIVATE = { 'Cache-Control': 'private' };

const box = new Sandbox('proxyd-private-bodies');
let origin: Origin;

/** For whom a request is, a long text made of it. */
const own = ({ head }: Pick<OriginRequest, 'head'>, length = 1): string =>
  `${/^x-who: (.*)\r$/im.exec(head)?.[1] ?? 'nobody'} `.repeat(length);

/** How the origin answers, by the first part of the URL. */
const WAYS: Record<string, (request: OriginRequest) => Reply> = {
  whole: (request) => respond('200 OK', PRIVATE, own(request)),
  chunks: (request) =>
    respondChunked('200 OK', PRIVATE, [own(request, 100), own(request, 2000), own(request)]),
  packed: (request) =>
    respond('200 OK', { ...PRIVATE, 'Content-Encoding': 'gzip' }, gzipSync(Buffer.from(own(request, 5000)))),
  unstreamed: (request) => respond('200 OK', PRIVATE, own(request, 3000)),
  // Public by its headers, and found to be larger than any storage.
  large: (request) => respond('200 OK', { 'Cache-Control': 'max-age=60' }, own(request, 90_000)),
  varying: (request) => respond('200 OK', { ...PRIVATE, Vary: 'X-Who' }, own(request)),
  failing: (request) => respond('500 Oops', PRIVATE, own(request)),
  page: (request) => respond('200 OK', PRIVATE, `<p>${own(request, 500)}<esi:remove>x</esi:remove></p>`),
};

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', (request) =>
    (WAYS[request.url.split('/')[1] as string] as (r: OriginRequest) => Reply)(request),
  );
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

describe.each([1, 2, 4])('with %d threads', (threads) => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    proxy = await startProxy(box, {
      program: backendProgram(
        origin.port,
        `sub vcl_recv { if (req.url ~ "^/packed" && req.http.x-who ~ "1$") { unset req.http.Accept-Encoding; } }
         sub vcl_backend_response {
           if (bereq.url ~ "^/unstreamed") { set beresp.do_stream = false; }
           if (bereq.url ~ "^/page") { set beresp.do_esi = true; }
         }`,
      ),
      storage: ['s0=malloc,1m', 'Transient=malloc,64m'],
      params: { worker_threads: String(threads) },
      dir: box.path(`threads${threads}`),
    });
  });

  it.each(Object.keys(WAYS))('each gets its own: %s', { timeout: 180_000 + ROUNDS * 2000 }, async (way) => {
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, () => ClientConnection.open(proxy.port)),
    );
    for (let round = 0; round < ROUNDS; round++) {
      const url = `/${way}/${threads}/${round}`;
      const got = await Promise.all(
        clients.map(async (client, i) => {
          client.send(requestText(url, { fields: { 'X-Who': `round${round}client${i}` } }));
          const { status, body } = await client.response();
          const names = new Set(body.toString().match(/round\d+client\d+/g));
          return `${status} ${[...names].join(' ')}`;
        }),
      );
      const status = way === 'failing' ? 500 : 200;
      expect(got).toEqual(clients.map((_, i) => `${status} round${round}client${i}`));
      expect(
        origin
          .seen(url)
          .map((request) => own(request).trim())
          .sort(),
      ).toEqual(clients.map((_, i) => `round${round}client${i}`).sort());
      origin.requests.length = 0;
    }
    for (const client of clients) client.close();
  });
});
