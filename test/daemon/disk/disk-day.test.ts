// A day of a small store, by its clock: what has expired is not found, segments are used again, and neither files nor rows of the
// index pile up.
import { expect, it } from 'vitest';
import type { DiskStore } from '../../../daemon/disk/disk-store.ts';
import { bodyIn, bodyOf, object, openStore, purge } from './disk-setup.ts';
import { FaultyFiles } from './faulty-files.ts';

const MINUTES = 24 * 60;
const HOUR = 3600;
const SEGMENTS = 8;
/** Rows of the index: enough for what the segments hold. */
const ROWS = 260;
const KEYS = 300;

it('stays as it is through a day of objects, expiry, purges and starts', async () => {
  let now = 1_700_000_000;
  let files = new FaultyFiles();
  const open = (): Promise<DiskStore> =>
    openStore(files, { segments: SEGMENTS, segmentBytes: 60_000, objects: ROWS, now: () => now });
  let store = await open();
  let written = 0;
  let ofObjects = 0;
  for (let minute = 0; minute < MINUTES; minute++, now += 60) {
    const body = bodyOf(minute, 2000);
    const put = object(store, `/${minute % KEYS}`, { body, end: now + HOUR, tags: [`tag${minute % 50}`] });
    expect(await store.put(put)).toBe('stored');
    if (minute % 30 === 29) await purge(store, `tag${(minute - 1) % 50}`, 'tag');
    if (minute % 60 !== 59) continue;
    const last = await bodyIn(store, `/${minute % KEYS}`, now);
    expect(Buffer.isBuffer(last) && last.equals(body)).toBe(true);
    expect(await bodyIn(store, `/${(minute - 1) % KEYS}`, now), 'purged').toBeNull();
    expect(await bodyIn(store, `/${(minute + KEYS - 62) % KEYS}`, now), 'expired').toBeNull();
    store.sample(now);
    const { figures } = store;
    expect(figures.g_segments).toBeLessThanOrEqual(SEGMENTS);
    expect(files.contents.size).toBeLessThanOrEqual(SEGMENTS + 2);
    expect(figures).toMatchObject({ g_waiting: 0, c_write_drop: 0, c_write_fail: 0 });
    // With rows that are not given back, segments would go early.
    if (minute > 240) expect(figures.g_objects).toBeGreaterThan(160);
    // The oldest went a few hours ago.
    expect(figures.g_oldest).toBeLessThan(5 * HOUR);
    if (minute % 360 !== 359) continue;
    written += figures.c_write_bytes;
    ofObjects += figures.c_write_object_bytes;
    await store.close();
    files = files.after(null);
    store = await open();
    expect(store.start).toBe('whole');
  }
  expect(written / ofObjects).toBeLessThan(1.3);
});
