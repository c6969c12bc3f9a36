// Random sites of edge-side includes through proxyd, with fragments fetched in turns and at once, and through Varnish:
// every page is the text that a simple reference makes of it, cold and warm, for clients with gzip and without.
//   PROXYD_ESI_SITES=1000 PROXYD_ESI_SEED=7   more of them, and others
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../fuzz/random.ts';
import { expanded } from '../harness/esi-expansion.ts';
import { randomSite, type Site } from '../harness/esi-site.ts';
import { fetchOnce, field } from '../harness/http-client.ts';
import { Origin } from '../harness/origin.ts';
import { installed, Sandbox } from '../harness/processes.ts';
import { backendProgram, type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';

const SITES = Number(process.env.PROXYD_ESI_SITES ?? 40);
const SEED = Number(process.env.PROXYD_ESI_SEED ?? 1);
const PROGRAM = `
sub vcl_recv { if (req.url ~ "pass") { return (pass); } }
sub vcl_backend_response {
  if (beresp.http.X-Esi == "1") { set beresp.do_esi = true; }
  if (beresp.http.X-Do == "gzip") { set beresp.do_gzip = true; }
  if (beresp.http.X-Do == "gunzip") { set beresp.do_gunzip = true; }
  if (beresp.http.X-Do == "wait") { set beresp.do_stream = false; }
  if (beresp.http.X-Do == "pass") { return (pass(10s)); }
}`;
const PLAYED: readonly [string, Product, Record<string, string>][] = [
  ['proxyd', 'proxyd', {}],
  ['proxyd, one fragment after the other', 'proxyd', { esi_parallel: '1' }],
  ['varnish', 'varnish', {}],
];

/** The text of a body that is one gzip member and nothing else. */
function unpacked(body: Buffer): string {
  if (body.readUInt16BE(0) !== 0x1f8b || body[3] !== 0) throw new Error('no plain gzip header');
  const raw = inflateRawSync(body.subarray(10), { info: true }) as unknown as {
    engine: { bytesWritten: number };
  };
  if (10 + raw.engine.bytesWritten + 8 !== body.length) throw new Error('more than one member, or less');
  return gunzipSync(body).toString('latin1');
}

async function text(proxy: RunningProxy, url: string, host: string, gzip: boolean): Promise<string> {
  const response = await fetchOnce(proxy.port, url, {
    host,
    ...(gzip ? { fields: { 'Accept-Encoding': 'gzip' } } : {}),
    patience: 10_000,
  });
  if (response.status !== 200 || !response.complete) return `${response.status} ${response.complete}`;
  const packed = field(response, 'content-encoding') === 'gzip';
  if (packed && !gzip) return 'gzip for a client that does not take it';
  return packed ? unpacked(response.body) : response.body.toString('latin1');
}

describe.each(PLAYED)('%s', (name, product, params) => {
  const there = product === 'proxyd' || installed('varnishd');
  if (!there) console.warn('random sites are not played by Varnish: varnishd is not installed');
  const box = new Sandbox('proxyd-esi-sites');
  let origin: Origin;
  let proxy: RunningProxy;
  const sites: Site[] = [];

  beforeAll(async () => {
    if (!there) return;
    origin = await Origin.start();
    for (let i = 0; i < SITES; i++) sites.push(randomSite(new Random(SEED * 1_000_003 + i), `/s${i}/`));
    origin.on('*', (request) => sites[Number(/^\/s(\d+)\//.exec(request.url)?.[1])]?.reply(request) ?? []);
    proxy = await startProxy(box, { product, params, program: backendProgram(origin.port, PROGRAM) });
  });
  afterAll(async () => {
    await box.dispose();
    await origin?.close();
  });

  it.skipIf(!there)(
    `makes ${SITES} sites from seed ${SEED} the text of the reference`,
    async () => {
      for (const [i, site] of sites.entries()) {
        for (const url of site.pages) {
          // A host a client, so that each finds the site cold and then warm.
          for (const gzip of [false, true]) {
            const host = `${gzip ? 'packed' : 'plain'}.test`;
            const wanted = expanded(site.lookup, host, url);
            for (const state of ['cold', 'warm']) {
              const got = await text(proxy, url, host, gzip).catch(String);
              expect(got, `site ${i} ${url} ${host} ${state} in ${name}`).toBe(wanted);
            }
          }
          const other = await text(proxy, url, 'plain.test', true).catch(String);
          expect(other, `site ${i} ${url} stored by a plain client`).toBe(
            expanded(site.lookup, 'plain.test', url),
          );
        }
      }
    },
    SITES * 2000 + 60_000,
  );
});
