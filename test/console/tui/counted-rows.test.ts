// A log that has not all that a row had counted says so, as long as its query is that of the row.
import { afterEach, beforeAll, expect, it } from 'vitest';
import { clock } from '../../../console/model/ui/numbers.ts';
import { openPanel } from '../../../console/views/dashboard/dashboard-panels.ts';
import { FAKE_START, fakeRecording } from '../fake-recording.ts';
import { Stage, type StageOptions } from '../stage.ts';

let stage: Stage | null = null;

async function open(columns: number, rows: number, more: Partial<StageOptions> = {}): Promise<Stage> {
  stage = new Stage({ recording: fakeRecording(90), columns, rows, ...more });
  await stage.settle();
  return stage;
}

beforeAll(() => {
  process.env.TZ = 'UTC';
});

afterEach(() => {
  stage?.close();
  stage = null;
});

const status = async (s: Stage): Promise<string> => (await s.screen()).split('\n')[3] ?? '';
const at = (seconds: number): string => clock(FAKE_START + seconds, true);

it.each([
  [60, `log begins at ${at(60)}`],
  [80, `counted since ${at(1)}, log since ${at(60)}`],
  [120, `counted since ${at(1)}, the log begins at ${at(60)}`],
])('at %i columns', async (columns, words) => {
  // The log is followed from the drill-down on: what was counted before is not in it.
  const s = await open(columns, 20);
  await s.play(60);
  await s.keys('9', 'enter');
  expect(await status(s)).toContain(`following  by request  ${words}`);
});

it('is shown until the query is changed, and again after Escape', async () => {
  const s = await open(80, 20);
  await s.play(60);
  await s.keys('9', 'enter', 'r');
  expect(await status(s)).toMatch(/by session {2}counted since/);
  await s.keys('/');
  await s.type(' and RespStatus == 200');
  await s.keys('enter');
  expect(await status(s)).not.toContain('since');
  await s.keys('escape');
  expect(await status(s)).toContain('log since');
  await s.keys('Z');
  expect(await status(s)).not.toContain('since');
});

it.each([
  ['the status classes', (s: Stage) => openPanel(s.c, 'status')],
  ['the slowest', (s: Stage) => s.keys('0', 'enter')],
  ['a cause of misses', (s: Stage) => s.keys('#', 'enter')],
])('also from %s', async (_, drill) => {
  const s = await open(80, 20);
  await s.play(60);
  await drill(s);
  await s.settle();
  expect(s.c.view.name).toBe('log');
  expect(await status(s)).toContain('log since');
});

it('is absent if everything is there, or nothing was counted', async () => {
  const s = await open(80, 20);
  await s.keys('2');
  await s.play(60);
  await s.keys('9', 'enter');
  expect(await status(s)).not.toContain('since');
  await s.keys('1', 'e');
  expect(await status(s)).not.toContain('since');
});

it('follows what comes for a row, also when the log was paused before, as by a question why', async () => {
  // As of a daemon, of which nothing has come yet when the query is set.
  const s = await open(80, 20, { canReplay: true, matcher: () => () => false });
  await s.play(20);
  await s.keys('2', 'w', 'escape');
  expect(await status(s)).toContain('paused');
  await s.keys('9', 'enter');
  expect(s.session.log.shown.size).toBe(0);
  expect(await status(s)).toContain('following');
  await s.keys('space', 'Z');
  expect(await status(s)).toContain('following');
});
