// One wrong bit anywhere in the files of a tier: never a wrong byte, never an object that was purged.
import { expect, it } from 'vitest';
import { runs } from '../../harness/runs.ts';
import { bodyIn, bodyOf, object, openStore, purge } from './disk-setup.ts';
import { FaultyFiles } from './faulty-files.ts';

const SIZES = [0, 1, 700, 5000, 70_000];
const OBJECTS = 15;
/** Byte of a segment. */
const FIRST_RECORD = 4096;
/** Coprime to most sizes of files: successive places are spread over them. */
const STRIDE = 7_919_333;

it('never finds a wrong byte or a purged object after a flipped bit', async () => {
  const files = new FaultyFiles();
  const first = await openStore(files, { segmentBytes: 150_000 });
  for (let id = 0; id < OBJECTS; id++) {
    const body = bodyOf(id, SIZES[id % SIZES.length] as number);
    const head = Buffer.from(`head ${id}`);
    await first.put(object(first, `/${id}`, { body, head, tags: [`tag${id % 5}`] }));
  }
  await purge(first, '/3');
  await purge(first, 'tag4', 'tag');
  const isPurged = (id: number): boolean => id === 3 || id % 5 === 4;
  const names = [...files.contents.keys()].sort();
  const bits = names.map((name) => (files.contents.get(name)?.bytes.length ?? 0) * 8);
  const all = bits.reduce((sum, count) => sum + count, 0);
  let found = 0;
  let lost = 0;
  for (let n = 0; n < runs(1000); n++) {
    // As after a kill: the last segment has no seal.
    const copy = files.after(null);
    // Every other flip is in one of the small files and heads, or before the body of a segment's first record, which a place at
    // random seldom hits.
    let place = n % 2 === 0 ? (n * STRIDE) % all : -1;
    const from = n % 4 === 1 ? 0 : FIRST_RECORD * 8;
    let at = n % names.length;
    if (place < 0)
      place = Math.min((bits[at] as number) - 1, from + ((n * 13) % (n % 4 === 1 ? 9000 : 1200)));
    else for (at = 0; place >= (bits[at] as number); at++) place -= bits[at] as number;
    if ((bits[at] as number) === 0) continue;
    copy.flip(names[at] as string, place);
    const store = await openStore(copy, { segmentBytes: 150_000 });
    for (let id = 0; id < OBJECTS; id++) {
      const hit = await store.find(`/${id}`, 0, () => true);
      const same = ['facts', `head ${id}`, `tag${id % 5}`];
      if (hit !== null) expect([`${hit.meta.facts}`, `${hit.meta.head}`, ...hit.meta.tags]).toEqual(same);
      await hit?.done();
      const body = await bodyIn(store, `/${id}`);
      // A reader that sends no byte before all are there takes a cut for a miss.
      if (body === null || body === 'cut') {
        lost += isPurged(id) ? 0 : 1;
        continue;
      }
      expect(isPurged(id), `/${id} was purged`).toBe(false);
      expect(body.equals(bodyOf(id, SIZES[id % SIZES.length] as number)), `${names[at]} bit ${place}`).toBe(
        true,
      );
      found++;
    }
  }
  expect(found).toBeGreaterThan(lost);
  expect(lost).toBeGreaterThan(0);
}, 60_000);
