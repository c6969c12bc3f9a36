// A page of fragments on the screen of the log: how many there are beside its URL, what they did beside its request, a bar
// for each in the timeline, and "why?" of the page or of the fragment that is selected. From a log that proxyd wrote.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { summarise } from '../../../../console/model/log/transaction.ts';
import { groupsOfFile } from '../../../../console/model/session/recorded-log.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import { FAKE_START } from '../../fake-recording.ts';
import { Stage } from '../../stage.ts';

const file = new URL('./esi-proxyd.vsl.gz', import.meta.url);
const page = (groupsOfFile(gunzipSync(readFileSync(file))) ?? []).findLast(
  (group) => summarise(group[0] as LogTransaction).url === '/passing-page',
) as LogTransaction[];

let stage: Stage;
afterEach(() => stage.close());

async function screen(...keys: string[]): Promise<string> {
  stage = new Stage({
    recording: {
      format: 'proxyd-console-recording/1',
      start: FAKE_START,
      steps: [
        { after: 0, kind: 'up', identity: 'test', version: '0.1' },
        { after: 2, kind: 'log', transactions: page },
      ],
      commands: {},
    },
    columns: 130,
    rows: 45,
  });
  await stage.play(1);
  await stage.keys('2');
  await stage.play(3);
  await stage.keys(...keys);
  return stage.screen();
}

it('counts the fragments beside the URL of the page', async () => {
  expect(await screen()).toMatch(/hit +200 +GET +\/passing-page \+5 esi /);
});

it('draws the fragments below their page, and a bar for each', async () => {
  const text = await screen('right', 'enter');
  expect(text).toMatch(/Request \d+ {2}rxreq .* 5 fragments, slowest \S+ \S+ \([a-z-]+\), 3 not cach/);
  expect(text).toMatch(/^ {4}▸ Request \d+ {2}esi {2}GET \/basket-pass .*\n {6}▸ BeReq /m);
  for (const label of ['/a (hit)', '/basket-pass (pass)', '/greeting (hit-for-miss)', '/b (hit)'])
    expect(text).toMatch(new RegExp(`│ {5}${label.replace(/[()]/g, '\\$&')} +█`));
  expect(text).toContain('3 of its 5 fragments are not kept in the cache');
});

it('explains the fragment that is selected, not its page', async () => {
  const down = Array.from({ length: 6 }, () => 'down');
  const text = await screen('right', ...down, 'w');
  expect(text).toContain('Why? GET /greeting');
  expect(text).toContain('It was a hit-for-miss');
  expect(text).not.toContain('of its 5 fragments');
});
