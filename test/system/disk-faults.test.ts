// A disk that is slow, full or broken: memory goes on serving, what cannot be read is fetched, and the operator gets to know.
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-disk-faults');
const FAULT = box.path('fault');
const PIPE = box.path('pipe');
/** More than the runtime's pool has threads by default. */
const STUCK = 10;
const ON_DISK = Array.from({ length: STUCK + 2 }, (_, i) => `/disk${i}`);
/** Too large to be unpacked on the event loop. */
const TEXT = 'a page of text, '.repeat(100_000);
/** Sent from its first block on. */
const LARGE = Array.from({ length: 900_000 }, (_, i) => `line ${i}\n`).join('');
const LONG = { 'Cache-Control': 'max-age=86400' };
let origin: Origin;
let proxy: RunningProxy;
const fetches = new Map<string, number>();

function fault(text: string): void {
  writeFileSync(FAULT, text);
}

/** Lets this many reads or syncs go on that hang; no others will. */
function goOn(count: number): void {
  fault('');
  const pipe = openSync(PIPE, constants.O_RDWR);
  writeSync(pipe, 'x'.repeat(count));
  closeSync(pipe);
}

async function body(url: string): Promise<string> {
  const response = await proxy.get(url, { fields: { 'Accept-Encoding': 'identity' } });
  expect([response.status, response.complete], url).toEqual([200, true]);
  return response.body.toString('latin1');
}

async function memoryServes(): Promise<void> {
  const before = fetches.get('/packed');
  for (let i = 0; i < 20; i++) expect(await body('/hot')).toBe('/hot');
  expect(await body('/packed')).toBe(TEXT);
  expect(fetches.get('/packed')).toBe(before);
}

beforeAll(async () => {
  fault('');
  chmodSync(FAULT, 0o644);
  execFileSync('mkfifo', ['-m', '666', PIPE]);
  origin = await Origin.start();
  const packed = gzipSync(TEXT);
  origin.on('*', ({ url, method }) => {
    const what = method === 'POST' ? method : url;
    fetches.set(what, (fetches.get(what) ?? 0) + 1);
    if (url === '/packed') return respond('200 OK', { ...LONG, 'Content-Encoding': 'gzip' }, packed);
    if (url === '/large') return respond('200 OK', LONG, LARGE);
    return respond('200 OK', LONG, url);
  });
  proxy = await startProxy(box, {
    program: `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }`,
    storage: ['malloc,64m', `disk,${box.path('tier')},512m`],
    params: { worker_threads: '1', http_profile: 'rfc9111' },
    env: {
      DISK_FAULT: FAULT,
      DISK_PIPE: PIPE,
      NODE_OPTIONS: `--import ${ROOT}test/harness/disk-faults.js`,
    },
  });
  for (const url of ON_DISK) await body(url);
  await body('/large');
  await proxy.counterReaches('SMD.s1.c_write', ON_DISK.length + 1);
  await proxy.killWorker();
  expect(await body(ON_DISK.at(-1) as string)).toBe(ON_DISK.at(-1));
  expect(fetches.get(ON_DISK.at(-1) as string)).toBe(1);
  await proxy.logged('Disk: found', '-g', 'request');
  await body('/hot');
  await body('/packed');
});
afterAll(async () => {
  await origin.close();
  await box.dispose();
});

it('sends a large body to all who ask, whoever leaves and whichever part of it they want', async () => {
  const leaving = new AbortController();
  const gone = fetch(`http://127.0.0.1:${proxy.port}/large`, { signal: leaving.signal });
  gone.catch(() => undefined);
  const part = proxy.get('/large', { fields: { Range: 'bytes=9000000-9000999' } });
  const whole = [body('/large'), body('/large'), body('/large')];
  leaving.abort();
  for (const one of whole) expect((await one) === LARGE).toBe(true);
  const { status, body: bytes } = await part;
  expect([status, bytes.toString('latin1')]).toEqual([206, LARGE.slice(9_000_000, 9_001_000)]);
  expect(fetches.get('/large')).toBe(1);
  await proxy.logged('Disk: found', '-q', 'ReqURL eq "/large"', '-g', 'request');
});

it('serves from memory while reads hang, and fetches what they would have found', async () => {
  fault('slow');
  const stuck = ON_DISK.slice(0, STUCK).map(body);
  expect(await Promise.all(stuck)).toEqual(ON_DISK.slice(0, STUCK));
  await proxy.counterReaches('SMD.s1.c_late', STUCK);
  await proxy.logged('Disk: a read took too long', '-g', 'request');
  // The reads still take their threads.
  await memoryServes();
  for (const url of ON_DISK.slice(0, STUCK)) expect(fetches.get(url), url).toBe(2);
  goOn(STUCK);
});

it('answers an unsafe request once what it has invalidated is on disk', async () => {
  await body('/form');
  fault('unsynced');
  let isAnswered = false;
  const posted = proxy.get('/form', { method: 'POST' }).then((response) => {
    isAnswered = true;
    return response;
  });
  await until('the origin has it', async () => fetches.get('POST') ?? null);
  for (let i = 0; i < 10; i++) await body('/hot');
  expect(isAnswered).toBe(false);
  // Two copies.
  goOn(2);
  expect((await posted).status).toBe(200);
  expect(await body('/form')).toBe('/form');
  expect(fetches.get('/form')).toBe(2);
});

it('fetches objects that a broken disk cannot read, and reports it', async () => {
  fault('broken');
  const url = ON_DISK[STUCK] as string;
  expect(await body(url)).toBe(url);
  expect(fetches.get(url)).toBe(2);
  await memoryServes();
  await proxy.counterReaches('SMD.s1.c_read_fail', 1);
  await proxy.logged('Disk: it cannot be read', '-g', 'request');
  expect((await proxy.adm('event.list')).stdout).toContain(
    'The disk tier cannot read objects, they are fetched again: EIO',
  );
  const check = await proxy.adm('storage.check', 's1');
  expect(check.stdout).toContain('could not be read');
  fault('');
});

it('keeps objects in memory while the disk is full, reports it, and writes again once there is room', async () => {
  fault('full');
  expect(await body('/new')).toBe('/new');
  expect(await body('/new')).toBe('/new');
  expect(fetches.get('/new')).toBe(1);
  await memoryServes();
  await proxy.counterReaches('SMD.s1.c_write_fail', 1);
  expect((await proxy.adm('event.list')).stdout).toContain(
    'The disk tier cannot write objects, they are in memory only: ENOSPC',
  );
  fault('');
  const written = (await proxy.counters())['SMD.s1.c_write'] as number;
  await body('/later');
  await proxy.counterReaches('SMD.s1.c_write', written + 1);
});

it('serves from memory alone when it starts on a full disk', async () => {
  fault('full');
  await proxy.killWorker();
  expect(await body('/after')).toBe('/after');
  expect(await body('/after')).toBe('/after');
  expect(fetches.get('/after')).toBe(1);
  expect((await proxy.adm('event.list')).stdout).toContain(
    'The disk tier cannot be opened, memory serves alone: ENOSPC',
  );
});
