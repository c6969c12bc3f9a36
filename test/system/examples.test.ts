// The example programs, each in a running proxy with real requests; paywall.vcl has a test of its own.
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-examples');
const EXAMPLES = `${ROOT}daemon/vcl/examples`;
let origin: Origin;
beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', ({ url }) => respond('200 OK', { 'Cache-Control': 'max-age=60' }, url));
});
afterAll(async () => {
  await origin.close();
  await box.dispose();
});

const TESTED: Readonly<Record<string, (proxy: RunningProxy) => Promise<void>>> = {
  'querystring.vcl': async (proxy) => {
    const body = async (url: string): Promise<string> => (await proxy.get(url)).body.toString();
    expect(await body('/p?utm_source=x&b=2&gclid=9&a=1&fbclid=z&b=2')).toBe('/p?a=1&b=2');
    const before = origin.requests.length;
    expect(await body('/p?b=2&a=1&utm_campaign=autumn')).toBe('/p?a=1&b=2');
    expect(origin.requests.length).toBe(before);
    expect(await body('/p?utm_source=x')).toBe('/p');
    expect(await body('/p?b=3&a=1')).toBe('/p?a=1&b=3');
  },
};

it('all have a test', () => {
  expect(
    readdirSync(EXAMPLES)
      .filter((name) => name.endsWith('.vcl'))
      .sort(),
  ).toEqual(['paywall.vcl', ...Object.keys(TESTED)].sort());
});

it.each(Object.keys(TESTED))('%s', async (name) => {
  const text = readFileSync(`${EXAMPLES}/${name}`, 'utf8');
  const proxy = await startProxy(box, { program: text.replace('8080', String(origin.port)) });
  await TESTED[name]?.(proxy);
});
