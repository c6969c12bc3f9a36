// Some thousand hostile requests, each whole, cut in two, byte by byte and after a good request on the same
// connection, with another request after it that must never be served. What the origin received is read as bytes: no
// case may reach it, and whatever did reach it has a clean head.
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { framings, type HostileRequest, heads, strayBytes } from '../harness/hostile-requests.ts';
import { ClientConnection } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { delay, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy, workerThreads } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-hostile');
const WARM = 'GET /warm HTTP/1.1\r\nHost: a\r\n\r\n';
const TOGETHER = 24;
/** Cases longer than this are not sent in pieces. */
const LONG = 2000;
let origin: Origin;
let proxy: RunningProxy;
let worker: number;
let files: number;
let paths = 0;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=1000' }, 'fine\n'));
  proxy = await startProxy(box, {
    program: backendProgram(origin.port),
    // A request that is waited for is not refused: it would be waited for longer than a client here has patience.
    params: { timeout_idle: '120', timeout_linger: '1' },
  });
  worker = proxy.workerPid() as number;
  expect((await proxy.get('/warm', { host: 'a' })).status).toBe(200);
  files = openFiles();
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

function openFiles(): number {
  return readdirSync(`/proc/${worker}/fd`).length;
}

type Way = 'behind another' | 'cut in two' | 'byte by byte';

/** The error in the handling of a hostile request; null if none. */
async function judge([name, text]: HostileRequest, way: Way, at: number): Promise<string | null> {
  const url = `/r${++paths}`;
  const lead = way === 'behind another' ? WARM : '';
  const all = Buffer.from(
    `${lead}${text.replace('§', url)}GET /smuggled${url} HTTP/1.1\r\nHost: a\r\n\r\n`,
    'latin1',
  );
  const conn = await ClientConnection.open(proxy.port);
  if (way === 'behind another' || all.length > LONG) conn.send(all);
  else if (way === 'cut in two') {
    const cut = 1 + (at % (all.length - 1));
    conn.send(all.subarray(0, cut));
    await delay(2);
    conn.send(all.subarray(cut));
  } else {
    for (const byte of all) {
      conn.send(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const wrong: string[] = [];
  if (lead !== '' && (await conn.response()).body.toString() !== 'fine\n')
    wrong.push('the request before it');
  const raw = (await conn.rest().catch((error: Error) => Buffer.from(error.message))).toString('latin1');
  conn.close();
  if (raw !== '') {
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(raw)?.[1] ?? '';
    if (!/^(400|405|417)$/.test(status)) wrong.push(`answer ${raw.slice(0, 60)}`);
    if (!/\r\nConnection: close\r\n/.test(raw)) wrong.push('the connection is said to live on');
    if ((raw.match(/HTTP\/1\.1 /g) ?? []).length > 1) wrong.push('two answers');
  }
  const seen = origin.requests.filter((each) => each.url.endsWith(url));
  if (seen.length > 0) wrong.push(`the origin saw ${seen.map((each) => each.url).join()}`);
  return wrong.length === 0 ? null : `${name}, ${way}: ${wrong.join('; ')}`;
}

async function judgeAll(cases: readonly HostileRequest[], way: Way): Promise<string[]> {
  const wrong: string[] = [];
  for (let i = 0; i < cases.length; i += TOGETHER) {
    const some = cases.slice(i, i + TOGETHER).map((each, k) => judge(each, way, (i + k) * 7 + 3));
    for (const found of await Promise.all(some)) if (found !== null) wrong.push(found);
  }
  return wrong;
}

describe.each([
  ['framing', framings],
  ['stray bytes', strayBytes],
  ['heads', heads],
] as const)('%s', (_name, make) => {
  it.each(['behind another', 'cut in two', 'byte by byte'] as const)(
    '%s: refused, and nothing else is disturbed',
    async (way) => {
      expect(await judgeAll(make(), way)).toEqual([]);
    },
  );
});

describe('afterwards', () => {
  it('every head that reached the origin is clean', () => {
    const clean =
      /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ [^\0-\x20\x7f]+ HTTP\/1\.1\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\0-\x08\x0a-\x1f\x7f]*\r\n)+\r\n$/;
    expect(origin.requests.map((r) => r.head).filter((head) => !clean.test(head))).toEqual([]);
  });

  it('the worker is the same and holds no descriptor more', async () => {
    expect(proxy.workerPid()).toBe(worker);
    expect((await proxy.get('/warm', { host: 'a' })).body.toString()).toBe('fine\n');
    // Each thread keeps a connection to the origin; one of them had one before.
    const others = workerThreads() - 1;
    await until('all sessions are gone', () => openFiles() <= files + others);
  });
});
