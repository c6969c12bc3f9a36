// The purge queue against a scripted network: what each answer makes of entries, folding, and that nothing is lost or
// invented over restarts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EdgeBatch, EdgeTarget, Outcome, Provider } from '../../../../daemon/edge/providers/provider.ts';
import { realFiles } from '../../../../daemon/edge/queue/journal.ts';
import { PurgeQueue } from '../../../../daemon/edge/queue/purge-queue.ts';
import type { QueueEvent } from '../../../../daemon/edge/queue/queue-options.ts';
import { runs } from '../../../harness/runs.ts';

/** A clock that advances on demand. */
class HandClock {
  time = 1_000_000;
  #timers: { at: number; call: () => void }[] = [];
  now = (): number => this.time;
  after = (ms: number, call: () => void): (() => void) => {
    const timer = { at: this.time + ms, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  };
  async pass(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await settle();
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.time = Math.max(this.time, next.at);
      next.call();
    }
    this.time = end;
  }
}

/** Lets the file system and promises have their turns. */
async function settle(): Promise<void> {
  for (let i = 0; i < 6; i++) await new Promise((go) => setTimeout(go, 1));
}

let directory: string;
let clock: HandClock;
let sent: EdgeBatch[];
let events: QueueEvent[];
let script: (batch: EdgeBatch) => Outcome | Promise<Outcome>;
let polls: Outcome[];
let penalties: number[];
const queues: PurgeQueue[] = [];

const acked: Outcome = { is: 'acked', purgeId: 'p1' };

const provider: Provider = {
  name: 'scripted',
  capabilities: {
    soft: true,
    ruleDelete: true,
    ruleInvalidate: true,
    tags: true,
    cpcodes: true,
    maxObjects: 4,
    maxBytes: 1000,
  },
  formatHeaders: () => ({}),
  async send(batch) {
    sent.push(batch);
    return { status: 200, headers: {}, body: JSON.stringify(await script(batch)) };
  },
  poll: async () => ({ status: 200, headers: {}, body: JSON.stringify(polls.shift() ?? acked) }),
  describe: (batch) => `POST ${batch.targets.join(' ')}`,
  bodyBytes: (batch) => JSON.stringify(batch.targets).length,
  classify: (result) => JSON.parse(result.failure === undefined ? result.body : '{}') as Outcome,
};

async function open(more: Partial<Parameters<typeof PurgeQueue.open>[0]> = {}): Promise<PurgeQueue> {
  const queue = await PurgeQueue.open({
    directory,
    fsync: 'always',
    provider,
    limiter: { take: async () => () => undefined, penalize: (ms) => penalties.push(ms) },
    maxEntries: 100,
    maxAttempts: 3,
    backoffMin: 1000,
    backoffMax: 4000,
    maxAge: 60_000,
    dryRun: false,
    event: (event) => events.push(event),
    clock,
    random: () => 1,
    ...more,
  });
  queues.push(queue);
  return queue;
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'queue-'));
  clock = new HandClock();
  sent = [];
  events = [];
  polls = [];
  penalties = [];
  script = () => acked;
});
afterEach(async () => {
  for (const queue of queues.splice(0)) await queue.close().catch(() => undefined);
  rmSync(directory, { recursive: true, force: true });
});

const url = (target: string, kind: 'delete' | 'invalidate' = 'delete'): EdgeTarget => ({
  kind,
  type: 'url',
  network: 'staging',
  target,
});
const targets = (): readonly string[] => sent.flatMap((batch) => [...batch.targets]);

describe('batches', () => {
  it('are of one kind, within the bounds, after 100 ms', async () => {
    const queue = await open();
    await queue.add(
      ['a', 'b', 'c', 'd', 'e'].map((each) => url(each)),
      'vxid 1',
    );
    await queue.add([url('soft', 'invalidate')], 'vxid 2');
    await clock.pass(99);
    expect(sent).toEqual([]);
    await clock.pass(2);
    expect(sent.map(({ kind, targets: all }) => [kind, all])).toEqual([
      ['delete', ['a', 'b', 'c', 'd']],
      ['delete', ['e']],
      ['invalidate', ['soft']],
    ]);
    await settle();
    expect(queue.list()).toEqual([]);
    expect(queue.counters().acked).toBe(6);
    expect(events.filter(({ state }) => state === 'acked').map(({ purgeId }) => purgeId)).toEqual(
      Array(6).fill('p1'),
    );
  });

  it('are no larger than the network takes', async () => {
    const queue = await open();
    await queue.add(
      Array.from({ length: 4 }, (_, i) => url(`${i}${'x'.repeat(400)}`)),
      '',
    );
    await clock.pass(100);
    expect(sent.map(({ targets: all }) => all.length)).toEqual([2, 2]);
  });
});

describe('dropping', () => {
  it('holds from the call on, and is taken back when the journal cannot be written', async () => {
    let isSyncing = true;
    let fail: (cause: Error) => void = () => undefined;
    const queue = await open({
      files: {
        ...realFiles,
        async open(path, fresh) {
          const file = await realFiles.open(path, fresh);
          const sync = (): Promise<void> =>
            isSyncing ? file.sync() : new Promise((_, failed) => (fail = failed));
          return { ...file, sync };
        },
      },
    });
    await queue.add([url('http://a/1')], 'test');
    isSyncing = false;
    const dropped = queue.drop('1').catch((cause: Error) => cause.message);
    await clock.pass(1000);
    expect(sent).toEqual([]);
    isSyncing = true;
    fail(new Error('EIO'));
    expect(await dropped).toMatch('EIO');
    await clock.pass(1000);
    expect(targets()).toEqual(['http://a/1']);
  });
});

describe('folding', () => {
  it('answers for both with one entry; a delete does what an invalidate would', async () => {
    const queue = await open();
    const [first] = await queue.add([url('a', 'invalidate')], 'vxid 1');
    const [second] = await queue.add([url('a')], 'vxid 2');
    const [third] = await queue.add([url('a', 'invalidate')], 'vxid 3');
    expect([second?.id, third?.id]).toEqual([first?.id, first?.id]);
    await clock.pass(100);
    expect(sent.map(({ kind, targets: all }) => [kind, all])).toEqual([['delete', ['a']]]);
  });

  it('leaves alone what is in flight', async () => {
    let answer: (outcome: Outcome) => void = () => undefined;
    script = () => new Promise((go) => (answer = go));
    const queue = await open();
    const [first] = await queue.add([url('a')], '');
    await clock.pass(100);
    const [second] = await queue.add([url('a')], '');
    expect(second?.id).not.toBe(first?.id);
    answer(acked);
    await clock.pass(200);
    expect(sent).toHaveLength(2);
    answer(acked);
    await clock.pass(1);
  });
});

describe('answers', () => {
  it('429: waits as long as requested, and does not count as an attempt', async () => {
    const queue = await open();
    script = () => (sent.length <= 5 ? { is: 'limited', wait: 7000, detail: '429' } : acked);
    await queue.add([url('a')], '');
    await clock.pass(100);
    expect(sent).toHaveLength(1);
    await clock.pass(6900);
    expect(sent).toHaveLength(1);
    await clock.pass(60_000);
    expect(sent).toHaveLength(6);
    expect(queue.counters()).toMatchObject({ acked: 1, ratelimited: 5, retried: 0, dead: 0 });
    expect(penalties).toEqual(Array(5).fill(7000));
  });

  it('counts at once where the counters are published, and continues there after new settings', async () => {
    const totals = { acked: 0, retried: 0, ratelimited: 0, auth_paused: 0 };
    const limited: Outcome = { is: 'limited', wait: 7000, detail: '429' };
    for (const n of [1, 2]) {
      const queue = await open({ totals });
      const before = sent.length;
      script = () => (sent.length === before + 1 ? limited : acked);
      await queue.add([url('a')], '');
      await clock.pass(100);
      await clock.pass(7000);
      await settle();
      expect(queue.list()).toEqual([]);
      expect(totals).toEqual({ acked: n, retried: 0, ratelimited: n, auth_paused: 0 });
      await queue.close();
    }
  });

  it('413: splits', async () => {
    const queue = await open();
    script = ({ targets: all }) => (all.length > 1 ? { is: 'split', detail: '413' } : acked);
    await queue.add(
      ['a', 'b', 'c'].map((each) => url(each)),
      '',
    );
    await clock.pass(200);
    expect(queue.counters()).toMatchObject({ acked: 3, dead: 0 });
  });

  it('400: finds the bad one, which becomes a dead letter', async () => {
    const queue = await open();
    script = ({ targets: all }) => (all.includes('bad') ? { is: 'bisect', detail: '400 bad' } : acked);
    await queue.add(
      ['a', 'bad', 'c', 'd'].map((each) => url(each)),
      '',
    );
    await clock.pass(200);
    expect(queue.dead().map(({ target, detail }) => [target, detail])).toEqual([['bad', '400 bad']]);
    expect(queue.counters().acked).toBe(3);
    script = () => acked;
    expect(await queue.retry('all')).toBe(1);
    await clock.pass(200);
    expect(queue.counters()).toMatchObject({ acked: 4, dead: 0 });
  });

  it('401: pauses, reports why, keeps everything, and continues on command', async () => {
    const queue = await open();
    script = () => ({ is: 'pause', detail: '401 who are you' });
    await queue.add([url('a')], '');
    await clock.pass(100);
    await queue.add([url('b')], '');
    await clock.pass(600_000);
    expect(sent).toHaveLength(1);
    expect(queue.status()).toMatchObject({ paused: true, alarm: '401 who are you', depth: 2 });
    script = () => acked;
    queue.resume();
    await clock.pass(200);
    expect(queue.counters()).toMatchObject({ acked: 2, auth_paused: 1, dead: 0 });
  });

  it('500: tries again later and later, then gives up', async () => {
    const queue = await open();
    script = () => ({ is: 'retry', detail: '500' });
    const [added] = await queue.add([url('a')], '');
    const end = queue.settled(added?.id as string);
    await clock.pass(100);
    const at: number[] = [];
    for (let i = 0; i < 100; i++) {
      const before = sent.length;
      await clock.pass(100);
      if (sent.length > before) at.push(i);
    }
    expect(at.map((i) => Math.round(i / 10))).toEqual([1, 3]);
    expect(await end).toBe('dead');
    expect(queue.dead()[0]).toMatchObject({ attempts: 3, detail: '500; tried 3 times' });
    expect(queue.status().errors[0]).toContain('500');
  });

  it('a rule: the request is asked about until it is over, also after a restart', async () => {
    const queue = await open();
    script = () => ({ is: 'acked', purgeId: 'r1', poll: 'r1' });
    polls = [{ is: 'acked', purgeId: 'r1', poll: 'r1' }];
    await queue.add([{ kind: 'delete', type: 'rule', network: 'staging', target: '{}' }], '');
    await clock.pass(200);
    expect(queue.list()[0]).toMatchObject({ state: 'polling', poll: 'r1' });
    await clock.pass(5000);
    expect(queue.list()[0]?.state).toBe('polling');
    await queue.close();
    const next = await open();
    await clock.pass(20_000);
    expect(next.list()).toEqual([]);
    expect(sent).toHaveLength(1);
  });

  it('rules: a hundred a day', async () => {
    const queue = await open({ maxEntries: 1000 });
    for (let i = 0; i < 103; i++) {
      await queue.add([{ kind: 'delete', type: 'rule', network: 'staging', target: `{"n":${i}}` }], '');
      await clock.pass(101);
    }
    expect(sent).toHaveLength(100);
    expect(queue.counters().queued).toBe(3);
    await clock.pass(86_400_000);
    expect(targets()).toHaveLength(103);
  }, 60_000);
});

it('sends very many, and rules that have to wait hold up nothing', async () => {
  const queue = await open({ maxEntries: 100_000 });
  script = ({ type }) => (type === 'rule' ? { is: 'limited', wait: 1e9, detail: '429' } : acked);
  const rules = Array.from(
    { length: 3000 },
    (_, i): EdgeTarget => ({ kind: 'delete', type: 'rule', network: 'staging', target: `{"n":${i}}` }),
  );
  await queue.add(rules, '');
  await queue.add(
    Array.from({ length: 5000 }, (_, i) => url(`u${i}`)),
    '',
  );
  for (let i = 0; i < 100 && queue.counters().acked < 5000; i++) await clock.pass(1000);
  expect(queue.counters().acked).toBe(5000);
  expect(queue.list().every(({ type }) => type === 'rule')).toBe(true);
}, 60_000);

it('rejects what is too much, and reports it', async () => {
  const queue = await open({ maxEntries: 1 });
  const [first, second] = await queue.add([url('a'), url('b')], '');
  expect(first?.state).toBe('queued');
  expect(second).toMatchObject({ state: 'rejected', reason: 'the queue is full (max_entries = 1)' });
});

it('sends nothing in a dry run, and shows what it would', async () => {
  const queue = await open({ dryRun: true });
  const [added] = await queue.add([url('a')], 'vxid 9');
  expect(added?.state).toBe('dry-run');
  await clock.pass(200);
  expect(sent).toEqual([]);
  expect(events.at(-1)).toMatchObject({ origin: 'vxid 9', state: 'dry-run', detail: 'POST a' });
});

/** The counters say of the entries what the lists do. */
function expectCounted(queue: PurgeQueue): void {
  const left = queue.list();
  const inflight = left.filter(({ state }) => state === 'inflight' || state === 'polling');
  const oldest = Math.min(clock.time, ...left.map(({ added }) => added));
  expect(queue.counters()).toMatchObject({
    queued: left.length - inflight.length,
    inflight: inflight.length,
    dead: queue.dead().length,
    oldest_age: Math.floor((clock.time - oldest) / 1000),
  });
  expect(queue.status().depth).toBe(left.length);
}

it('loses nothing and invents nothing, whatever happens in whichever order', async () => {
  const outcome = fc.constantFrom<Outcome>(
    acked,
    { is: 'retry', detail: '500' },
    { is: 'limited', wait: 5000, detail: '429' },
    { is: 'split', detail: '413' },
    { is: 'bisect', detail: '400' },
    { is: 'pause', detail: '401' },
    { is: 'acked', purgeId: 'r', poll: 'r' },
  );
  const step = fc.oneof(
    fc.record({
      do: fc.constant('add' as const),
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      soft: fc.boolean(),
    }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(10, 150, 3000) }),
    fc.record({ do: fc.constantFrom('restart' as const, 'resume' as const) }),
    fc.record({ do: fc.constant('retry' as const), id: fc.constantFrom('all', '1', '2') }),
    fc.record({ do: fc.constant('drop' as const), id: fc.constantFrom('1', '2', '3') }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 15 }),
      fc.array(outcome, { maxLength: 10 }),
      async (steps, outcomes) => {
        rmSync(directory, { recursive: true, force: true });
        clock = new HandClock();
        sent = [];
        script = () => outcomes.shift() ?? acked;
        let queue = await open();
        const asked = new Map<string, boolean>();
        const dropped = new Set<string>();
        for (const each of steps) {
          if (each.do === 'add') {
            const [added] = await queue.add([url(each.name, each.soft ? 'invalidate' : 'delete')], '');
            expect(added?.state).toBe('queued');
            asked.set(each.name, asked.get(each.name) === true || !each.soft);
          } else if (each.do === 'pass') await clock.pass(each.ms);
          else if (each.do === 'resume') queue.resume();
          else if (each.do === 'retry') await queue.retry(each.id);
          else if (each.do === 'drop') {
            const target = queue.show(each.id)?.target ?? '';
            if ((await queue.drop(each.id)) > 0) dropped.add(target);
          } else {
            await queue.close();
            queue = await open();
          }
          expectCounted(queue);
        }
        outcomes = [];
        queue.resume();
        await clock.pass(60_000);
        expectCounted(queue);
        const dead = queue.dead().map(({ target }) => target);
        expect(queue.list()).toEqual([]);
        for (const [name, hard] of asked) {
          const calls = sent.filter(({ targets: all }) => all.includes(name));
          if (dropped.has(name)) continue;
          expect(calls.length > 0 || dead.includes(name), name).toBe(true);
          if (hard)
            expect(
              calls.some(({ kind }) => kind === 'delete'),
              `${name} is deleted`,
            ).toBe(true);
          else
            expect(
              calls.every(({ kind }) => kind === 'invalidate'),
              `${name} is not deleted`,
            ).toBe(true);
        }
        for (const name of targets()) expect(asked.has(name)).toBe(true);
        await queue.close();
      },
    ),
    { numRuns: runs(60) },
  );
}, 120_000);
