// Ranges of an object that is still being fetched: those that are there are answered at once, one far ahead is fetched on its
// own, and one that is near is waited for.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { field, type Response } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-far-range');
const BODY = Buffer.from(Array.from({ length: 500_000 }, (_, i) => (i * 11) % 249));
/** Nearly as long: it is not worth packing. */
const PACKED = gzipSync(BODY, { level: 0 });
const THERE = 100_000;
let origin: Origin;
let proxy: RunningProxy;
let release: () => void = () => undefined;
let held = Promise.resolve();
let url = '';
let count = 0;

const PROGRAM = `
sub vcl_backend_response {
  set beresp.http.X-Fetch = bereq.xid;
}
sub vcl_pass { set req.http.X-Passed = "yes"; }
sub vcl_deliver { set resp.http.X-Passed = req.http.X-Passed; }
`;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', ({ head, url: asked }) => {
    const range = /^range: bytes=(\d*)-(\d*)/im.exec(head);
    const fields: Record<string, string> = { 'Cache-Control': 'max-age=100', ETag: '"a"' };
    if (asked.includes('/parts')) fields['Accept-Ranges'] = 'bytes';
    if (range !== null && asked.includes('/refused')) return respond('500 Internal Server Error');
    if (range !== null) {
      const from = range[1] === '' ? BODY.length - Number(range[2]) : Number(range[1]);
      const to = range[1] === '' || range[2] === '' ? BODY.length : Number(range[2]) + 1;
      const place = { 'Content-Range': `bytes ${from}-${to - 1}/${BODY.length}` };
      return respond('206 Partial Content', { ...fields, ...place }, BODY.subarray(from, to));
    }
    const coding = head.includes('/packed') ? { 'Content-Encoding': 'gzip' } : {};
    const bytes = head.includes('/packed') ? PACKED : BODY;
    const [whole] = respond('200 OK', { ...fields, ...coding }, bytes) as readonly [{ send: Buffer }];
    const cut = whole.send.length - bytes.length + THERE;
    return [{ send: whole.send.subarray(0, cut) }, { hold: held }, { send: whole.send.subarray(cut) }];
  });
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, PROGRAM),
    params: { range_ahead: '100k' },
  });
});
afterAll(async () => {
  release();
  await proxy.stop();
  await origin.close();
  box.dispose();
});

/** Each test has an object of its own, of which the first bytes are there. */
beforeEach(async () => {
  release();
  held = new Promise((resolve) => {
    release = resolve;
  });
  url = `/${count++}`;
});

const ask = (range: string, fields: Record<string, string> = {}): Promise<Response> =>
  proxy.get(url, { fields: { Range: range, ...fields } });
const fetches = (): number => origin.requests.filter((request) => request.url === url).length;
const facts = (r: Response): unknown[] => [
  r.status,
  field(r, 'Content-Range'),
  field(r, 'X-Passed') === 'yes',
];

it('answers at once what is there', async () => {
  // The one that fetches, too.
  for (const range of ['bytes=10-19', 'bytes=50000-50009']) {
    const [from = 0, to = 0] = range.slice(6).split('-').map(Number);
    const response = await ask(range);
    expect(facts(response)).toEqual([206, `bytes ${from}-${to}/500000`, false]);
    expect(response.body.equals(BODY.subarray(from, to + 1))).toBe(true);
  }
  expect(fetches()).toBe(1);
});

it.each([
  ['bytes=400000-400009', 400_000, 400_010],
  ['bytes=400000-', 400_000, 500_000],
  ['bytes=-5', 499_995, 500_000],
])('fetches %s on its own, whether the object is already being fetched or not', async (range, from, to) => {
  const isFirst = range !== 'bytes=400000-400009';
  if (!isFirst) await ask('bytes=0-0');
  const response = await ask(range);
  expect(facts(response)).toEqual([206, `bytes ${from}-${to - 1}/500000`, true]);
  expect(response.body.equals(BODY.subarray(from, to))).toBe(true);
  expect(fetches()).toBe(2);
  release();
  const whole = await proxy.get(url);
  expect(whole.body.equals(BODY)).toBe(true);
  // Of the whole object any range is a hit.
  expect(facts(await ask(range))).toEqual([206, `bytes ${from}-${to - 1}/500000`, false]);
  expect(fetches()).toBe(2);
});

it('fetches equal ranges once where the origin answers ranges, and others on their own', async () => {
  url += '/parts';
  await ask('bytes=0-0');
  const before = fetches();
  const ranges = [
    'bytes=400000-400009',
    'bytes=400000-400009',
    'bytes=-5',
    'bytes=400000-400009',
    'bytes=-5',
  ];
  const answers = await Promise.all(ranges.map((range) => ask(range)));
  for (const [i, response] of answers.entries()) {
    const [from, to] = ranges[i] === 'bytes=-5' ? [499_995, 500_000] : [400_000, 400_010];
    expect(facts(response)).toEqual([206, `bytes ${from}-${to - 1}/500000`, false]);
    expect(response.body.equals(BODY.subarray(from, to))).toBe(true);
  }
  expect(fetches() - before).toBe(2);
});

it('waits for the object where a part of it is refused', async () => {
  url += '/parts/refused';
  await ask('bytes=0-0');
  const before = fetches();
  const waiting = ask('bytes=400000-400009');
  await until('the part is asked for', () => (fetches() > before ? true : null));
  release();
  const response = await waiting;
  expect(facts(response)).toEqual([206, 'bytes 400000-400009/500000', false]);
  expect(response.complete && response.body.equals(BODY.subarray(400_000, 400_010))).toBe(true);
});

it('waits for what is near, and for what If-Range or a second range asks', async () => {
  await ask('bytes=0-0');
  const waiting = [
    ask('bytes=150000-150009'),
    ask('bytes=400000-400009', { 'If-Range': '"a"' }),
    ask('bytes=400000-400009', { 'If-Range': '"b"' }),
  ];
  const outside = await ask('bytes=500000-');
  expect(outside.status).toBe(416);
  release();
  const answers = await Promise.all(waiting);
  expect(answers.map(({ status }) => status)).toEqual([206, 206, 200]);
  expect(fetches()).toBe(1);
});

it('waits for a body that the origin may send otherwise: a packed one', async () => {
  url += '/packed';
  const gzip = { 'Accept-Encoding': 'gzip' };
  await ask('bytes=0-0', gzip);
  const waiting = ask('bytes=400000-400009', gzip);
  await ask('bytes=1-1', gzip);
  release();
  const response = await waiting;
  expect(response.body.equals(PACKED.subarray(400_000, 400_010))).toBe(true);
  expect(fetches()).toBe(1);
});

it('always waits with range_ahead=0', async () => {
  await proxy.adm('param.set', 'range_ahead', '0b');
  await ask('bytes=0-0');
  const waiting = ask('bytes=400000-400009');
  // Behind it on the same thread or not: the request is known to wait once a later one has been answered.
  await ask('bytes=1-1');
  expect(fetches()).toBe(1);
  release();
  expect((await waiting).status).toBe(206);
  expect(fetches()).toBe(1);
  await proxy.adm('param.set', 'range_ahead', '100k');
});
