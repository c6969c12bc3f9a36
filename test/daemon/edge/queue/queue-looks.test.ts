// The purge queue with very many entries: an entry costs the looks that it needs itself, however many others wait, are due
// later, or lie there as dead letters.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { EdgeTarget, Outcome, Provider } from '../../../../daemon/edge/providers/provider.ts';
import { encodeRecord } from '../../../../daemon/edge/queue/journal.ts';
import { PurgeQueue } from '../../../../daemon/edge/queue/purge-queue.ts';
import { type QueueEntry, replaying } from '../../../../daemon/edge/queue/queue-entry.ts';
import { turns } from '../../../../daemon/turns/turns.ts';

/** Fields of entries that were read. */
let looks = 0;

const counted = (entry: QueueEntry): QueueEntry =>
  new Proxy(entry, {
    get(target, name: keyof QueueEntry) {
      looks++;
      return target[name];
    },
  });

function* replay(records: Iterable<unknown>): ReturnType<typeof replaying> {
  const state = yield* replaying(records);
  for (const [id, entry] of state.entries) state.entries.set(id, counted(entry));
  return state;
}

const acked: Outcome = { is: 'acked', purgeId: '' };
let answer: Outcome;
const provider: Provider = {
  name: 'counted',
  capabilities: {
    ...{ soft: true, ruleDelete: true, ruleInvalidate: true, tags: true, cpcodes: true },
    ...{ maxObjects: 50, maxBytes: 1 << 20 },
  },
  formatHeaders: () => ({}),
  send: async () => ({ status: 200, headers: {}, body: '' }),
  describe: () => '',
  bodyBytes: ({ targets }) => targets.length,
  classify: () => answer,
};

let directory: string;
let queue: PurgeQueue;
/** Reasons and times of the queue's wake-ups. */
let timers: Set<{ at: number; call: () => void }>;
const NOW = 1_000_000;
let time: number;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'looks-'));
  timers = new Set();
  time = NOW;
  answer = acked;
});
afterEach(async () => {
  vi.restoreAllMocks();
  await queue.close();
  rmSync(directory, { recursive: true, force: true });
});

async function open(entries: readonly Partial<QueueEntry>[]): Promise<void> {
  const put = (more: Partial<QueueEntry>, i: number): QueueEntry => ({
    ...{ id: String(i + 1), kind: 'delete', type: 'url', network: 'staging', target: `t${i}`, origin: '' },
    ...{ state: 'queued', attempts: 0, added: NOW, due: NOW, detail: '', poll: '', ...more },
  });
  writeFileSync(
    join(directory, 'journal.0'),
    Buffer.concat(entries.map((each, i) => encodeRecord({ put: put(each, i) }))),
  );
  queue = await PurgeQueue.open({
    ...{ directory, fsync: 'always', provider, maxEntries: 1_000_000, maxAttempts: 3 },
    ...{ backoffMin: 1000, backoffMax: 4000, maxAge: 1e12, dryRun: false, event: () => undefined, replay },
    limiter: { take: async () => () => undefined, penalize: () => undefined },
    clock: {
      now: () => time,
      after(ms, call) {
        const timer = { at: time + ms, call };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
  });
  looks = 0;
}

/** All that is wanted within a second happens, and what follows from it. */
async function goOn(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (const timer of [...timers]) {
      if (timer.at > NOW + 1000) continue;
      timers.delete(timer);
      timer.call();
    }
    await new Promise((go) => setImmediate(go));
  }
}

const many = (n: number, more: Partial<QueueEntry>): Partial<QueueEntry>[] =>
  Array.from({ length: n }, () => more);
const url = (target: string): EdgeTarget => ({ kind: 'delete', type: 'url', network: 'staging', target });

it.each([1000, 8000])('%i entries are sent with a bounded number of visits to each', async (n) => {
  await open(many(n, {}));
  await goOn(() => queue.counters().acked === n);
  expect(looks / n).toBeLessThan(60);
  expect(looks / n).toBeGreaterThan(1);
});

it.each([
  ['dead letters', { state: 'dead' }],
  ['entries that are due in a day', { state: 'retry', due: NOW + 86_400_000 }],
  ['rules that wait for their turn', { type: 'rule' }],
  ['requests that the network works on', { type: 'rule', state: 'polling', poll: 'p' }],
] satisfies [string, Partial<QueueEntry>][])(
  'a purge beside 5000 %s looks at none of them',
  async (_, more) => {
    answer = { is: 'limited', wait: 1e9, detail: '429' };
    await open(many(5000, more));
    await goOn(
      () =>
        queue.list().every(({ state }) => state !== 'inflight') &&
        [...timers].every(({ at }) => at > NOW + 1000),
    );
    answer = acked;
    looks = 0;
    await queue.add([url('a')], '');
    await goOn(() => queue.counters().acked === 1);
    expect(looks).toBeLessThan(1000);
  },
);

it('5000 entries that are due in one moment are sent in order, a few in one turn', async () => {
  let left = 0;
  vi.spyOn(turns, 'mayContinue').mockImplementation(() => left-- > 0);
  const sent: string[] = [];
  vi.spyOn(provider, 'send').mockImplementation(async ({ targets }) => {
    sent.push(...targets);
    return { status: 200, headers: {}, body: '' };
  });
  await open(many(5000, { state: 'retry', due: NOW + 500 }));
  await goOn(() => [...timers].every(({ at }) => at === NOW + 500));
  time = NOW + 500;
  let most = 0;
  await goOn(() => {
    most = Math.max(most, looks);
    looks = 0;
    left = 10;
    return queue.counters().acked === 5000;
  });
  expect(most).toBeLessThan(15_000);
  expect(sent).toEqual(Array.from({ length: 5000 }, (_, i) => `t${i}`));
});

it('counters look at no entry', async () => {
  await open([...many(2000, {}), ...many(2000, { state: 'dead' })]);
  expect(queue.counters()).toMatchObject({ queued: 2000, dead: 2000, inflight: 0 });
  expect(queue.status().depth).toBe(2000);
  expect(looks).toBe(0);
});
