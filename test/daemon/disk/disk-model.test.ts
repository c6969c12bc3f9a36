// The disk tier beside a list of what was stored and purged, through kills, losses of power, torn writes, flipped bits and a full
// device.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { removeJournals } from '../../../daemon/disk/disk-journal.ts';
import type { DiskStore } from '../../../daemon/disk/disk-store.ts';
import { isFull } from '../../../daemon/disk/full-device.ts';
import { runs } from '../../harness/runs.ts';
import { bodyIn, bodyOf, heldBody, NEVER, object, openStore, purge } from './disk-setup.ts';
import { FaultyFiles } from './faulty-files.ts';

interface Version {
  readonly key: string;
  readonly tag: string;
  readonly begun: number;
  readonly body: Buffer;
  /** A kill may not lose it. */
  readonly isStored: boolean;
}

interface Purge {
  readonly name: string;
  readonly made: number;
  /** Its caller was told that it is done; else it may have happened or not. */
  isSure: boolean;
}

const KEYS = ['/a', '/b', '/c'];
const TAGS = ['x', 'y'];
/** The name of a purge of all objects. */
const ALL = '*';

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant('put' as const),
      key: fc.constantFrom(...KEYS),
      tag: fc.constantFrom(...TAGS),
      size: fc.constantFrom(0, 10, 3000, 70_000, 140_000),
      purgedMeanwhile: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('purge' as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('tag' as const), tag: fc.constantFrom(...TAGS) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('empty' as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('stop' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('die' as const),
      after: fc.integer({ min: 0, max: 40 }),
      how: fc.constantFrom('kill' as const, 'power' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('full' as const),
      /** Bytes that are left; negative: there is room again. */
      left: fc.constantFrom(-1, 0, 40, 500, 5000, 100_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('flip' as const), place: fc.integer({ min: 0, max: 2 ** 31 }) }),
  },
);

class Model {
  readonly versions: Version[] = [];
  readonly purges: Purge[] = [];
  time = 0;
  /** Since the last loss of power or flipped bit all that was stored must be found. */
  mayMiss = false;

  hides(version: Version, sureOnly: boolean): boolean {
    return this.purges.some(
      ({ name, made, isSure }) =>
        (isSure || !sureOnly) &&
        made > version.begun &&
        (name === version.key || name === version.tag || name === ALL),
    );
  }
}

async function checkAll(store: DiskStore, model: Model): Promise<void> {
  for (const key of KEYS) {
    const mine = model.versions.filter((version) => version.key === key);
    const found = await bodyIn(store, key);
    const newest = mine.at(-1);
    if (found === null || found === 'cut') {
      if (model.mayMiss || newest === undefined || !newest.isStored) continue;
      expect({ key, found, isHidden: model.hides(newest, false) }).toEqual({
        key,
        found: null,
        isHidden: true,
      });
      continue;
    }
    const version = mine.findLast(({ body }) => body.equals(found));
    expect(version, `a body of ${key} that nobody stored`).toBeDefined();
    expect(model.hides(version as Version, true), `${key} was purged`).toBe(false);
    if (!model.mayMiss && newest?.isStored === true) expect(version).toBe(newest);
  }
}

it('never finds a wrong byte or a purged object, and loses what was in flight alone', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
      async (steps, random) => {
        let files = new FaultyFiles();
        let store = await openStore(files);
        const model = new Model();
        let how: 'kill' | 'power' = 'kill';
        const dead = async <T>(act: () => Promise<T>): Promise<T | null> => {
          try {
            return await act();
          } catch (error) {
            if (files.diesAt === Number.POSITIVE_INFINITY) throw error;
            return null;
          }
        };
        const purgeIn = async (name: string, kind: 'key' | 'tag' | 'all'): Promise<void> => {
          const one = { name, made: ++model.time, isSure: false };
          model.purges.push(one);
          await dead(async () => {
            try {
              await (kind === 'all' ? store.empty() : purge(store, name, kind));
            } catch (error) {
              if (!isFull(error)) throw error;
              // As the tier does with a journal that cannot be written.
              await removeJournals(files);
              one.isSure = true;
              await reopen();
            }
            one.isSure = true;
          });
        };
        const open = async (): Promise<DiskStore> => {
          try {
            return await openStore(files);
          } catch (error) {
            if (!isFull(error)) throw error;
            files.room = Number.POSITIVE_INFINITY;
            return openStore(files);
          }
        };
        const reopen = async (): Promise<void> => {
          for (;;) {
            const wasPower = how === 'power' && files.diesAt < Number.POSITIVE_INFINITY;
            if (wasPower) model.mayMiss = true;
            const next = files.after(wasPower ? () => random.next().value as number : null);
            // Some die while they start.
            if (files.steps > files.diesAt && (random.next().value as number) < 0.4) next.diesAt = 9;
            next.room = files.room;
            files = next;
            const opened = await dead(open);
            if (opened === null) continue;
            store = opened;
            if (files.diesAt === Number.POSITIVE_INFINITY) return;
          }
        };
        for (const one of steps) {
          if (one.op === 'put') {
            const id = ++model.time;
            const body = bodyOf(id, one.size + (id % 251));
            // Every third as a large one, which is written in parts.
            const given = id % 3 === 0 ? heldBody(body) : body;
            const before = store;
            const made = object(store, one.key, { tags: [one.tag], body: given, end: NEVER });
            if (one.purgedMeanwhile) await purgeIn(one.tag, 'tag');
            // A fetch ends with its process.
            const answer = store === before ? await dead(() => store.put(made)) : null;
            const { key, tag } = one;
            model.versions.push({ key, tag, begun: id, body, isStored: answer === 'stored' });
          } else if (one.op === 'purge') await purgeIn(one.key, 'key');
          else if (one.op === 'tag') await purgeIn(one.tag, 'tag');
          else if (one.op === 'empty') await purgeIn(ALL, 'all');
          else if (one.op === 'stop') {
            await dead(() => store.close());
            await reopen();
          } else if (one.op === 'die') {
            how = one.how;
            files.diesAt = Math.min(files.diesAt, files.steps + one.after);
          } else if (one.op === 'full') {
            files.room = one.left < 0 ? Number.POSITIVE_INFINITY : files.used + one.left;
            // Objects make room for others, and for purges.
            model.mayMiss = true;
          } else {
            const names = [...files.contents.keys()];
            const name = names[one.place % names.length] as string;
            const bits = (files.contents.get(name)?.bytes.length ?? 0) * 8;
            if (bits === 0) continue;
            files.flip(name, Math.floor(one.place / names.length) % bits);
            model.mayMiss = true;
          }
          if (files.steps > files.diesAt) await reopen();
          if (files.diesAt === Number.POSITIVE_INFINITY) await checkAll(store, model);
        }
        await dead(() => store.close());
        await reopen();
        await checkAll(store, model);
      },
    ),
    { numRuns: runs(400) },
  );
}, 60_000);
