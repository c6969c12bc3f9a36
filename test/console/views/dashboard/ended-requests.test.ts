// Restarts, fragments and tags on the dashboard and in the list of tags: a failed request that was restarted is not
// an error, a failed fragment is one with its own URL, and fragments are listed next to the shares.
import { afterEach, expect, it } from 'vitest';
import {
  encodeTransaction,
  type RecordedStep,
  type Recording,
} from '../../../../console/model/session/recording.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import { FAKE_START, type FakeRequest, fakeGroup, fakeRecording, record } from '../../fake-recording.ts';
import { Stage } from '../../stage.ts';

const BASE = fakeRecording(3);
const REQUEST: FakeRequest = {
  vxid: 10,
  at: FAKE_START + 1,
  method: 'GET',
  url: '/again',
  status: 503,
  handling: 'MISS',
  seconds: 0.2,
  body: 10,
};

let stage: Stage | null = null;

afterEach(() => {
  stage?.close();
  stage = null;
});

/** Counters as ever, with a fragment a second; of the log only these groups. */
function recording(...groups: LogTransaction[][]): Recording {
  const info = BASE.steps.find((step) => step.kind === 'counters');
  const esi = info?.kind === 'counters' ? info.info.findIndex((row) => row.name === 'MAIN.esi_req') : -1;
  const steps = BASE.steps.flatMap((step): RecordedStep[] =>
    step.kind === 'log'
      ? []
      : step.kind === 'values'
        ? [{ ...step, changed: [...step.changed, [esi, String(step.after)]] }]
        : [step],
  );
  const log = groups.map(
    (group): RecordedStep => ({
      after: 1,
      kind: 'log',
      transactions: group.map((tx, n) => encodeTransaction({ ...tx, first: n === 0 })),
    }),
  );
  return { ...BASE, steps: [...steps, ...log].sort((a, b) => a.after - b.after) };
}

async function open(...groups: LogTransaction[][]): Promise<Stage> {
  stage = new Stage({ recording: recording(...groups), columns: 120, rows: 40 });
  await stage.settle();
  await stage.play(3);
  return stage;
}

const child = (tx: LogTransaction | undefined, reason: string): LogTransaction => ({
  ...(tx as LogTransaction),
  reason,
  parent: 10,
  level: reason === 'esi' ? 2 : 1,
});

it('shows no error where a restart helped, and counts one request', async () => {
  const [second] = fakeGroup({ ...REQUEST, vxid: 20, status: 200, handling: 'HIT' });
  const s = await open([...fakeGroup(REQUEST), child(second, 'restart')]);
  const text = await s.screen();
  expect(text).toContain('none so far');
  expect(text).toMatch(/│ 5xx {4}0\.0%/);
  expect(text).toMatch(/│ 2xx {4}100%/);
  await s.keys('2');
  expect(s.session.traffic.sample.requests).toBe(1);
});

it('shows a fragment that failed as itself, and names fragments beside the shares', async () => {
  const page = fakeGroup({ ...REQUEST, url: '/page', status: 200, handling: 'HIT' });
  const [part] = fakeGroup({ ...REQUEST, vxid: 20, url: '/part' });
  const text = await (await open([...page, child(part, 'esi')])).screen();
  expect(text).toMatch(/503 {2}miss .* GET \/part/);
  expect(text).toContain('with 1.0/s fragments');
  // Where that has no room, too.
  await stage?.resize(80, 24);
  expect(await stage?.screen()).toContain('+1.0/s ESI ─╮');
});

it('counts of a tag fetches, not objects', async () => {
  const [client, fetch] = fakeGroup({ ...REQUEST, url: '/tagged', status: 200 }) as [
    LogTransaction,
    LogTransaction,
  ];
  const header = record('b', fetch.vxid, 'BerespHeader', 'xkey: red');
  const s = await open([client, { ...fetch, records: Buffer.concat([fetch.records, header]) }]);
  await s.keys('7');
  const [head = '', row = ''] = (await s.screen()).split('\n').slice(3);
  expect(row).toMatch(/^ tag /);
  expect(row.slice(0, head.indexOf('FETCHES') + 'FETCHES'.length)).toMatch(/ 1$/);
  expect(row.slice(head.indexOf('OBJECTS'), head.indexOf('FETCHES')).trim()).toBe('');
});
