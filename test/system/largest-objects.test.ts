// The command storage.largest on a daemon with objects of several sizes. Black box: only dist/ and its commands.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-largest');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  for (const size of [10, 20_000, 3000, 400])
    origin.on(`/of-${size}`, respond('200 OK', { 'Cache-Control': 'max-age=100' }, 'x'.repeat(size)));
  proxy = await startProxy(box, { program: backendProgram(origin.port) });
  for (const size of [10, 20_000, 3000, 400]) await proxy.get(`/of-${size}`);
  await proxy.get('/of-3000');
});

afterAll(async () => {
  await box.dispose();
  await origin.close();
});

it('lists the largest objects by size, with their URLs', async () => {
  const { stdout, code } = await proxy.adm('storage.largest', '2');
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^Bytes +Hits +Age +TTL +Storage +Object$/);
  expect(lines[1]).toMatch(/^20000 +0 +\d+ +\d+ +s0 +\S*\/of-20000$/);
  expect(lines[2]).toMatch(/^3000 +1 +\d+ +\d+ +s0 +\S*\/of-3000$/);
});

it('has all of them as JSON', async () => {
  const reply = JSON.parse((await proxy.adm('storage.largest', '-j')).stdout);
  expect(reply.slice(3).map((one: { url: string; bytes: number }) => [one.url, one.bytes])).toEqual([
    ['/of-20000', 20_000],
    ['/of-3000', 3000],
    ['/of-400', 400],
    ['/of-10', 10],
  ]);
});

it.each(['0', '101', '-1', 'many'])('refuses the number %s', async (number) => {
  const { code, stdout } = await proxy.adm('storage.largest', number);
  expect(code).toBe(1);
  expect(stdout).toContain('A number from 1 to 100');
});
