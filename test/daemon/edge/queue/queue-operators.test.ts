// Concurrent operations of operators on the queue, over a journal whose writes are delayed or fail: afterwards memory
// and journal agree on every entry, and every answer given is true.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EdgeTarget, Provider } from '../../../../daemon/edge/providers/provider.ts';
import {
  decoding,
  encodeRecord,
  type JournalFile,
  type JournalFiles,
  realFiles,
} from '../../../../daemon/edge/queue/journal.ts';
import { PurgeQueue } from '../../../../daemon/edge/queue/purge-queue.ts';
import { type QueueEntry, replaying } from '../../../../daemon/edge/queue/queue-entry.ts';
import { isFull, runs } from '../../../harness/runs.ts';

/** Its syncs are counted, and fail as the script says; they can be held until they are let go. */
class Disk implements JournalFiles {
  syncs = 0;
  /** Of the syncs that follow, which fail. */
  fails: boolean[] = [];
  #held: Promise<void> = Promise.resolve();
  letGo: () => void = () => undefined;
  makeDirectory = realFiles.makeDirectory;
  list = realFiles.list;
  rename = realFiles.rename;
  unlink = realFiles.unlink;
  syncDirectory = realFiles.syncDirectory;
  hold(): void {
    this.#held = new Promise((go) => {
      this.letGo = go;
    });
  }
  async open(path: string, fresh: boolean): Promise<JournalFile> {
    const file = await realFiles.open(path, fresh);
    return {
      ...file,
      sync: async () => {
        this.syncs++;
        await this.#held;
        if (this.fails.shift() === true) throw new Error('EIO');
        await file.sync();
      },
    };
  }
}

const provider: Provider = {
  name: 'none',
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
  send: () => new Promise(() => undefined),
  describe: () => '',
  bodyBytes: () => 10,
  classify: () => ({ is: 'acked', purgeId: '' }),
};

let directory: string;
let disk: Disk;
let queue: PurgeQueue;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'operators-'));
  disk = new Disk();
});
afterEach(async () => {
  disk.letGo();
  disk.fails = [];
  await queue.close();
  rmSync(directory, { recursive: true, force: true });
});

const dead = (id: number, target = `t${id}`): QueueEntry => ({
  ...{ id: String(id), kind: 'delete', type: 'url', network: 'staging', target, origin: 'vxid 1' },
  ...{ state: 'dead', attempts: 3, added: 0, due: 0, detail: '500', poll: '' },
});

async function open(letters: readonly QueueEntry[], more: { compactAt?: number } = {}): Promise<void> {
  writeFileSync(join(directory, 'journal.0'), Buffer.concat(letters.map((put) => encodeRecord({ put }))));
  queue = await PurgeQueue.open({
    ...{ directory, fsync: 'always', provider, maxEntries: 200_000, maxAttempts: 3, files: disk, ...more },
    ...{ backoffMin: 1000, backoffMax: 4000, maxAge: 60_000, dryRun: false, event: () => undefined },
    limiter: { take: async () => () => undefined, penalize: () => undefined },
    // Nothing is sent here.
    clock: { now: () => 1000, after: () => () => undefined },
  });
  disk.syncs = 0;
}

const url = (target: string, kind: 'delete' | 'invalidate' = 'delete'): EdgeTarget => ({
  ...{ kind, type: 'url', network: 'staging', target },
});
const words = ({ id, state, kind, target }: QueueEntry): string => `${id} ${state} ${kind} ${target}`;
const inMemory = (): string[] => [...queue.list(), ...queue.dead()].map(words).sort();

/** Results of steps that start at once. */
function ended<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function inJournal(): string[] {
  const [name] = ['journal.2', 'journal.1', 'journal.0'].filter((each) => {
    try {
      readFileSync(join(directory, each));
      return true;
    } catch {
      return false;
    }
  });
  const { records } = ended(decoding(readFileSync(join(directory, name as string))));
  return [...ended(replaying(records)).entries.values()].map(words).sort();
}

it('very many dead letters go together, a thousand in a write', async () => {
  const count = isFull ? 100_000 : 10_000;
  await open(Array.from({ length: count }, (_, i) => dead(i + 1)));
  expect(await queue.retry('all')).toBe(count);
  expect(disk.syncs).toBeLessThanOrEqual(count / 1000 + 10);
  expect(queue.counters()).toMatchObject({ queued: count, dead: 0 });
  expect(inJournal()).toEqual(inMemory());
}, 60_000);

it('a dropped one stays dropped, whoever sends all again meanwhile', async () => {
  await open([dead(1), dead(2), dead(3)]);
  disk.hold();
  const retried = queue.retry('all');
  const dropped = queue.drop('2');
  const again = queue.retry('2');
  disk.letGo();
  expect(await dropped).toBe(1);
  expect(await again).toBe(0);
  await retried;
  expect(inMemory()).toEqual(['1 queued delete t1', '3 queued delete t3']);
  expect(inJournal()).toEqual(inMemory());
  const [later] = await queue.add([url('t2')], '');
  expect(queue.list().map(({ id }) => id)).toContain(later?.id);
});

it('one that is being dropped is not sent again', async () => {
  await open([dead(1), dead(2)]);
  disk.hold();
  const dropped = queue.drop('2');
  const retried = queue.retry('all');
  disk.letGo();
  expect([await dropped, await retried]).toEqual([1, 1]);
  expect(inMemory()).toEqual(['1 queued delete t1']);
  expect(inJournal()).toEqual(inMemory());
});

it('what the journal does not take stays a dead letter, and the reply says how far it came', async () => {
  await open(Array.from({ length: 2500 }, (_, i) => dead(i + 1)));
  disk.fails = [false, true];
  await expect(queue.retry('all')).rejects.toThrow('the journal cannot be written: EIO; sent again: 1000');
  expect(queue.counters()).toMatchObject({ queued: 1000, dead: 1500 });
  expect(inJournal()).toEqual(inMemory());
  expect(await queue.retry('all')).toBe(1500);
});

it('a purge that needs more than the invalidation that waits is answered once that is written', async () => {
  await open([]);
  await queue.add([url('a', 'invalidate')], '');
  disk.hold();
  // The first write fails, and with it all operations that depend on it.
  disk.fails = [true];
  const both = Promise.all([queue.add([url('a')], ''), queue.add([url('a')], '')]);
  disk.letGo();
  expect((await both).flat().map(({ state }) => state)).toEqual(['rejected', 'rejected']);
  expect(inMemory()).toEqual(['1 queued invalidate a']);
  expect(inJournal()).toEqual(inMemory());
});

it('an entry that is dropped while it is written is nobody’s answer', async () => {
  await open([]);
  disk.hold();
  const first = queue.add([url('a', 'invalidate')], '');
  const dropped = queue.drop('1');
  const second = queue.add([url('a')], '');
  disk.letGo();
  expect([(await first)[0]?.state, await dropped]).toEqual(['queued', 1]);
  const [answer] = await second;
  expect(inMemory()).toEqual([`${answer?.id} queued delete a`]);
  expect(inJournal()).toEqual(inMemory());
});

it('memory and journal agree, and answers hold, whatever is asked at the same time and whichever writes fail', async () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant('add' as const),
      name: fc.constantFrom('t1', 't2', 'a', 'b'),
      kind: fc.constantFrom('delete' as const, 'invalidate' as const),
    }),
    fc.record({ do: fc.constant('drop' as const), id: fc.constantFrom('1', '2', '3', '4', '5') }),
    fc.record({ do: fc.constant('retry' as const), id: fc.constantFrom('1', '2', 'all') }),
    fc.record({ do: fc.constant('wait' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(fc.boolean(), { maxLength: 6 }),
      fc.constantFrom(300, 1 << 20),
      async (steps, fails, compactAt) => {
        rmSync(directory, { recursive: true, force: true });
        directory = mkdtempSync(join(tmpdir(), 'operators-'));
        disk = new Disk();
        await open([dead(1), dead(2)], { compactAt });
        disk.fails = [...fails];
        const answered = new Set<string>();
        const gone = new Set<string>();
        const running: Promise<unknown>[] = [];
        for (const each of steps) {
          if (each.do === 'wait') await Promise.allSettled(running);
          else if (each.do === 'add')
            running.push(
              queue.add([url(each.name, each.kind)], '').then(([answer]) => {
                if (answer?.state === 'queued') answered.add(answer.id);
              }),
            );
          else if (each.do === 'drop')
            running.push(
              queue.drop(each.id).then(
                (count) => count === 1 && gone.add(each.id),
                () => undefined,
              ),
            );
          else running.push(queue.retry(each.id).catch(() => undefined));
        }
        await Promise.all(running);
        await queue.close();
        const left = inMemory();
        expect(inJournal()).toEqual(left);
        const ids = new Set(left.map((line) => line.split(' ')[0] as string));
        expect([...answered].filter((id) => !ids.has(id) && !gone.has(id))).toEqual([]);
        expect([...gone].filter((id) => ids.has(id))).toEqual([]);
      },
    ),
    { numRuns: runs(150) },
  );
}, 120_000);
