// Places in the log as an operator finds them again, without colours: bookmarks, a time, the log over time.
import { afterEach, beforeAll, expect, it } from 'vitest';
import { fakeRecording } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

let stage: Stage | null = null;

beforeAll(() => {
  process.env.TZ = 'UTC';
});

afterEach(() => {
  stage?.close();
  stage = null;
});

/** The log view with forty seconds of traffic. */
async function openLog(): Promise<Stage> {
  stage = new Stage({ recording: fakeRecording(90), columns: 100, rows: 24 });
  await stage.settle();
  await stage.keys('2');
  await stage.play(40);
  return stage;
}

const rows = async (s: Stage): Promise<string[]> => (await s.screen()).split('\n');

it('bookmarks have a mark, are listed, found again, and removed', async () => {
  const s = await openLog();
  expect((await rows(s)).filter((row) => row.startsWith('*'))).toEqual([]);
  await s.keys('k', 'k', ';');
  const marked = (await rows(s)).filter((row) => row.startsWith('*'));
  expect(marked).toHaveLength(1);
  const url = / (GET|HEAD|POST) +(\S+)/.exec(marked[0] ?? '')?.[2] ?? 'none';
  // Away from it, and back.
  await s.keys('g');
  expect((await rows(s)).filter((row) => row.startsWith('*'))).toEqual([]);
  await s.keys("'");
  expect(await s.screen()).toMatch(/Bookmarks/);
  expect(await s.screen()).toContain(url);
  await s.keys('enter');
  expect((await rows(s)).filter((row) => row.startsWith('*'))).toEqual(marked);
  await s.keys(';');
  expect((await rows(s)).filter((row) => row.startsWith('*'))).toEqual([]);
  await s.keys("'");
  expect(s.c.ui.state.notice?.text).toMatch(/^no bookmarks/);
});

it('a time is gone to, and the log over time leads to its part', async () => {
  const s = await openLog();
  const times = async (): Promise<string[]> =>
    (await rows(s)).flatMap((row) => /^[* ][^\d ]? ?\S? *(\d\d:\d\d:\d\d) /.exec(row)?.[1] ?? []);
  const newest = (await times()).at(-1) as string;
  await s.keys('"');
  await s.type('-30s');
  await s.keys('enter');
  const then = await times();
  expect(then.length).toBeGreaterThan(3);
  expect(then).not.toContain(newest);
  await s.keys('G', 'I');
  expect(await s.screen()).toMatch(/Log over time[\s\S]*\d\d:\d\d:\d\d +#+ +\d+/);
  await s.keys('home', 'enter');
  expect(await times()).not.toContain(newest);
});
