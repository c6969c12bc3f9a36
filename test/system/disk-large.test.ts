// Bodies that are larger than memory, before a disk that could hold them: in slices they are kept, and those who read the same one
// at the same time read it from disk once; whole they pass by.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Origin, type OriginRequest, type Reply, respond, respondChunked } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-disk-large');
const MIB = 1 << 20;
const SLICES = 64;
const SIZE = SLICES * MIB;
/** Each holds two slices: fewer than memory has room for. */
const READERS = 12;
const LINE = Buffer.alloc(MIB, 'a line of a large file\n');
const WHOLE = Buffer.concat(
  Array.from({ length: SLICES }, (_, i) => Buffer.concat([Buffer.from([i]), LINE.subarray(1)])),
);
const SUM = createHash('sha1').update(WHOLE).digest('hex');

let origin: Origin;
let proxy: RunningProxy;
let fetches = 0;

function answer({ head, url }: OriginRequest): Reply {
  fetches++;
  const range = /^range: bytes=(\d+)-(\d+)/im.exec(head);
  const fields = { ETag: '"a"', 'Cache-Control': 'max-age=86400' };
  if (url === '/open') return respondChunked('200 OK', fields, [WHOLE]);
  if (url === '/small') return respondChunked('200 OK', fields, ['small']);
  if (range === null) return respond('200 OK', fields, WHOLE);
  const [from, to] = [Number(range[1]), Math.min(SIZE, Number(range[2]) + 1)];
  const place = `bytes ${from}-${to - 1}/${SIZE}`;
  return respond('206 Partial Content', { ...fields, 'Content-Range': place }, WHOLE.subarray(from, to));
}

/** Reads it without keeping it. */
async function read(path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${proxy.port}${path}`);
  const hash = createHash('sha1');
  for await (const bytes of response.body as AsyncIterable<Uint8Array>) hash.update(bytes);
  return hash.digest('hex');
}

/** MiB; the most since the worker's start. */
function peak(): number {
  const status = readFileSync(`/proc/${proxy.workerPid()}/status`, 'latin1');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', answer);
  proxy = await startProxy(box, {
    program: `vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${origin.port}"; }
sub vcl_recv { if (req.url ~ "^/sliced") { set req.slice = 1MB; } }`,
    storage: ['malloc,48m', `disk,${box.path('tier')},2g`],
  });
});
afterAll(async () => {
  await proxy.stop();
  await origin.close();
  await box.dispose();
});

it('keeps one in slices on disk, and reads each once for all who want it', async () => {
  const before = peak();
  expect(await read('/sliced')).toBe(SUM);
  expect(fetches).toBe(SLICES);
  // Slices that come while four others wait for the first thread are not kept.
  const missing = SLICES - (await proxy.counterReaches('SMD.s1.c_write', SLICES - 4));
  const reads = (await proxy.counters())['SMD.s1.c_hit'] as number;
  const sums = await Promise.all(Array.from({ length: READERS }, () => read('/sliced')));
  expect(new Set(sums)).toEqual(new Set([SUM]));
  const counters = await proxy.counters();
  // On a machine that is so busy that a read takes a second the slice is fetched.
  const late = (counters['SMD.s1.c_late'] as number) + (counters['SMD.s1.c_busy'] as number);
  expect(fetches).toBeLessThanOrEqual(SLICES + late + missing * READERS);
  // Once, but for readers that have come further apart than memory has room.
  const more = (counters['SMD.s1.c_hit'] as number) - reads;
  expect(more).toBeGreaterThan(SLICES / 2);
  expect(more).toBeLessThan((SLICES * READERS) / 4);
  // Storage, what waits to be written (64 MiB at most), and what the runtime has not freed yet.
  expect(peak() - before).toBeLessThan(250);
});

it('sends one that is whole with a window of memory, and does not keep it', async () => {
  fetches = 0;
  const before = peak();
  for (let i = 1; i <= 2; i++) {
    expect(await read('/whole')).toBe(SUM);
    expect(fetches).toBe(i);
  }
  expect(peak() - before).toBeLessThan(100);
});

it('cuts one of unknown length for the first client of each thread alone', async () => {
  let cuts = 0;
  const isWhole = async (): Promise<boolean> =>
    read('/open').then(
      (sum) => {
        expect(sum).toBe(SUM);
        return true;
      },
      () => false,
    );
  // One after the other: those who share a fetch are cut together.
  for (let i = 0; i < 12; i++) if (!(await isWhole())) cuts++;
  expect(cuts).toBeGreaterThan(0);
  expect(cuts).toBeLessThanOrEqual(availableParallelism());
  fetches = 0;
  for (let i = 0; i < 4; i++) await read('/small');
  expect(fetches).toBe(1);
});
