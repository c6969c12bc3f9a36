// Plays the pages against Varnish or proxyd and stores the log as a binary file. Both are fixtures of the console's
// tests, which explain pages of fragments from logs of either.

import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { fetchOnce } from '../http-client.ts';
import { Origin } from '../origin.ts';
import { Sandbox } from '../processes.ts';
import { type Product, startProxy, tool } from '../proxy.ts';
import { ESI_PAGES, esiProgram, serveEsiPages } from './pages.ts';

/** The log of all pages, as varnishlog -w and proxylog -w write it. */
async function playEsiPages(product: Product, box: Sandbox): Promise<Buffer> {
  const origin = await Origin.start();
  try {
    serveEsiPages(origin);
    const proxy = await startProxy(box, { product, program: esiProgram(origin.port) });
    // The first requests take longer than typical.
    for (const url of ['/slow-page', '/nested-page'])
      await fetchOnce(proxy.port, url, { host: 'warm.example' });
    for (const url of ESI_PAGES) await fetchOnce(proxy.port, url, { host: 'shop.example' });
    const file = box.path(`${product}.vsl`);
    const done = await tool(product, 'log', ['-n', proxy.dir, '-d', '-g', 'raw', '-w', file]);
    if (done.code !== 0) throw new Error(`log tool: ${done.stderr}`);
    await proxy.stop();
    return readFileSync(file);
  } finally {
    await origin.close();
  }
}

export async function recordEsiPages(product: Product, target: URL | string): Promise<void> {
  const box = new Sandbox('esi-pages');
  try {
    writeFileSync(target, gzipSync(await playEsiPages(product, box), { level: 9 }));
  } finally {
    await box.dispose();
  }
}
