// The query prompt: queries with names to choose from, built in and saved; and a footer that says more where it is wide.

import { afterEach, expect, it } from 'vitest';
import { submitLine } from '../../../console/model/ui/palette.ts';
import { fakeRecording } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

let stage: Stage | null = null;

async function open(columns: number, rows = 24): Promise<Stage> {
  stage = new Stage({ recording: fakeRecording(3), columns, rows, queries: { mine: 'vxid == 7' } });
  await stage.play(3);
  return stage;
}

afterEach(() => {
  stage?.close();
  stage = null;
});

it('an empty prompt offers them, and Tab takes one', async () => {
  const s = await open(60, 20);
  await s.keys('2', '/');
  expect(await s.screen()).toMatch(
    /╭─ Complete ─+ 16 · Tab completes ─╮.*\n.*mine +vxid == 7[\s\S]*errors +5xx and failed fetches +│/,
  );
  await s.keys('tab', 'tab', 'enter');
  expect(s.session.log.query).toBe('RespStatus >= 500 or FetchError');
  submitLine(s.c, 'query.use slow');
  expect(s.session.log.query).toBe('Timestamp:Process[2] > 1.0');
});

it('^R lists them from the prompt too', async () => {
  const s = await open(100);
  await s.keys('2', '/', 'ctrl+r');
  expect(await s.screen()).toMatch(/Queries[\s\S]*mine +vxid == 7[\s\S]*fragments +pages with fragments/);
  await s.keys('enter');
  expect(s.session.log.query).toBe('vxid == 7');
});

it('the footer names as many keys as it has room for, the most needed first', async () => {
  const hints = async (s: Stage): Promise<string> => (await s.screen()).split('\n').at(-1) ?? '';
  const s = await open(60, 20);
  await s.keys('2');
  const narrow = await hints(s);
  expect(narrow).toMatch(/^ \/ query {2}Space pause .* q quit$/);
  await s.resize(200, 50);
  const wide = await hints(s);
  for (const word of ['s search', '^R queries', 'p purge', 'r grouping']) expect(wide).toContain(word);
  // Less than the next hint is left.
  expect(/ {2,}(?=\? help)/.exec(wide)?.[0].length ?? 0).toBeLessThan(20);
});
