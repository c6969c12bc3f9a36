// A recorded log has no command replies, no events and few counters: views say so instead of showing unknown data as
// absent.
import { afterAll, describe, expect, it } from 'vitest';
import { logRecording } from '../../../console/model/session/log-recording.ts';
import { FAKE_START, fakeGroup } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

const stages: Stage[] = [];
afterAll(() => {
  for (const stage of stages) stage.close();
});

async function opened(columns: number, rows: number): Promise<Stage> {
  const groups = Array.from({ length: 20 }, (_, n) =>
    fakeGroup({
      vxid: 1001 + n * 3,
      at: FAKE_START + n,
      method: 'GET',
      url: '/',
      status: 200,
      handling: 'HIT',
      seconds: 0.25,
      body: 100,
    }),
  );
  const stage = new Stage({ recording: logRecording(groups, 'file', 0), columns, rows });
  stages.push(stage);
  await stage.play(12);
  return stage;
}

describe('a log in a file', () => {
  it.each([
    ['4', 'not known: Not part of this recording', /none sick/],
    ['5', 'not known: Not part of this recording', /none active|no programs/],
    ['6', 'not known: Not part of this recording', /all default|no parameters/],
    ['8', 'no storage usage reported yet', /0 objects/],
    ['!', 'not known: Not part of this recording', /no worker has died|no panic|a panic is stored/],
    ['@', 'not known: Not part of this recording', /imports edge/],
    ['$', 'events are not part of this recording', /no events$/m],
    ['%', 'no events known', /no events[;,]/],
    ['3', 'Uptime mgt:   not known', /Uptime mgt: +0/],
  ])('view %s says what is not part of it', async (key, words, untrue) => {
    const stage = await opened(100, 24);
    await stage.keys(key);
    await stage.play(14);
    const screen = await stage.screen();
    expect(screen).toContain(words);
    expect(screen).not.toMatch(untrue);
  });

  it.each([
    [120, 40],
    [60, 20],
  ])('the dashboard of %i columns shows no object count that is unknown', async (columns, rows) => {
    const stage = await opened(columns, rows);
    expect(await stage.screen()).not.toMatch(/objects|expired|evicted|bans +0/);
  });
});
