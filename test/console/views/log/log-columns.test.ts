// The log's list with columns that were chosen, and how many groups a search finds.
import { afterEach, expect, it } from 'vitest';
import { LogStore } from '../../../../console/model/log/log-store.ts';
import { countMatches, findMatch } from '../../../../console/views/log/log-search.ts';
import { FAKE_START, fakeGroup, fakeRecording } from '../../fake-recording.ts';
import { Stage } from '../../stage.ts';

let stage: Stage | null = null;
afterEach(() => {
  stage?.close();
  stage = null;
});

async function open(columns: number): Promise<Stage> {
  stage = new Stage({ recording: fakeRecording(20), columns, rows: 24 });
  await stage.keys('2');
  await stage.play(20);
  return stage;
}

/** Chooses columns of the menu by their places in it. */
async function choose(s: Stage, ...places: number[]): Promise<void> {
  for (const place of places) await s.keys('c', ...Array.from({ length: place }, () => 'down'), 'enter');
}

const line = (screen: string, has: RegExp): string => screen.split('\n').find((one) => has.test(one)) ?? '';

it('shows host, client, backend and user agent where they are chosen, and takes them away again', async () => {
  const s = await open(160);
  expect(await s.screen()).not.toContain('HOST');
  await choose(s, 0, 1, 3);
  expect(line(await s.screen(), /TIME/)).toMatch(/METHOD +HOST +CLIENT +USER AGENT +URL/);
  expect(line(await s.screen(), /GET/)).toMatch(/GET +shop\.example +127\.0\.0\.1 +demo +\//);
  await choose(s, 0, 2);
  expect(line(await s.screen(), /TIME/)).toMatch(/METHOD +CLIENT +BACKEND +USER AGENT +URL/);
  // Nothing was fetched for a hit.
  expect(line(await s.screen(), /hit .*GET/)).toMatch(/GET +127\.0\.0\.1 +[–-] +demo +\//);
});

it('has room for a chosen column on the smallest screen, too, and says of which it has none', async () => {
  const s = await open(60);
  await choose(s, 0);
  expect(line(await s.screen(), /TIME/)).toMatch(/STATUS HOST +URL {10} +TOOK/);
  expect(line(await s.screen(), / 200 /)).toMatch(/ 200 +shop\.exa… \/\S* +\S+$/);
  await choose(s, 3);
  expect(await s.screen()).toContain('no room for user agent');
  await s.resize(80, 24);
  expect(line(await s.screen(), /TIME/)).toMatch(/METHOD +HOST +USER AGENT? +URL {10}/);
  await choose(s, 1, 2);
  expect(line(await s.screen(), /TIME/)).toMatch(/STATUS HOST +CLIENT +BACKEND +URL {10}/);
});

it('shows in how many groups a search finds its text', async () => {
  const s = await open(100);
  await s.keys('s');
  await s.type('/cart');
  await s.keys('enter');
  const carts = line(await s.screen(), /"\/cart" is in/);
  expect(carts).toMatch(/"\/cart" is in 8 groups of 63; n and N for more/);
  await s.keys('s');
  await s.type('nowhere');
  await s.keys('enter');
  expect(await s.screen()).toContain('"nowhere" not found in the records shown');
});

it('counts what a walk from match to match finds', () => {
  const store = new LogStore({ maxBytes: 1 << 20, maxEntries: 500 });
  for (let n = 0; n < 300; n++)
    store.add(
      fakeGroup({
        vxid: 10 + n * 3,
        at: FAKE_START + n,
        method: 'GET',
        url: `/${n % 7 === 0 ? 'Wanted' : 'other'}/${n}`,
        status: 200,
        handling: n % 2 === 0 ? 'HIT' : 'MISS',
        seconds: 0.001,
        body: 10,
      }),
    );
  const walked = new Set<number>();
  let at = findMatch(store, 0, { tx: -1, record: -1 }, 'Wanted', false);
  for (; at !== null; at = findMatch(store, at.seq, at.place, 'Wanted', false)) walked.add(at.seq);
  expect(countMatches(store, 'Wanted')).toBe(43);
  expect(walked.size).toBe(43);
  expect(countMatches(store, 'wanted')).toBe(43);
  expect(countMatches(store, 'WANTED')).toBe(0);
});

it('moves long URLs and records sideways as far as their end, and leaves short ones where they are', async () => {
  const url = `/long/${'0123456789'.repeat(9)}/end`;
  const recording = fakeRecording(3);
  const group = fakeGroup({
    vxid: 9000,
    at: FAKE_START + 3,
    method: 'GET',
    url,
    status: 200,
    handling: 'HIT',
    seconds: 0.001,
    body: 10,
  });
  recording.steps.push({ after: 3, kind: 'log', transactions: group });
  stage = new Stage({ recording, columns: 80, rows: 50 });
  const s = stage;
  await s.keys('2');
  await s.play(3);
  const row = async (): Promise<string> => line(await s.screen(), /(long|\d{9}).* 10 B/);
  expect(await row()).toMatch(/GET +\/long\/0123456/);
  await s.keys('}');
  expect(await row()).toMatch(/GET +…567890/);
  for (let i = 0; i < 10; i++) await s.keys('}');
  expect(await row()).toMatch(/GET +….*9\/end +10 B/);
  expect(line(await s.screen(), /\/static\/app\.css/)).toMatch(/GET +\/static\/app\.css/);
  await s.keys('t', 'G');
  expect(line(await s.screen(), /ReqURL +….*9/)).toMatch(/9\/end$/);
  for (let i = 0; i < 11; i++) await s.keys('{');
  expect(await s.screen()).toMatch(/ReqURL +\/long\/0123/);
});
