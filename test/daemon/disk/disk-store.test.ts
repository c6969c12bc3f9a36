import { crc32 } from 'node:zlib';
import { expect, it } from 'vitest';
import { checkObjects } from '../../../daemon/disk/disk-check.ts';
import type { DiskHit } from '../../../daemon/disk/disk-reader.ts';
import { BLOCK } from '../../../daemon/disk/disk-record.ts';
import { bodyIn, bodyOf, heldBody, object, openStore, purge } from './disk-setup.ts';
import { FaultyFiles } from './faulty-files.ts';

/** A store with one object under `/a`, stopped; the files that it left. */
async function filesWith(changes: Parameters<typeof object>[2] = {}): Promise<FaultyFiles> {
  const files = new FaultyFiles();
  const store = await openStore(files);
  expect(await store.put(object(store, '/a', changes))).toBe('stored');
  await store.close();
  return files;
}

it('finds an object again after a stop, with all that belongs to it', async () => {
  const body = bodyOf(3, 2 * BLOCK + 17);
  const made = { variant: 9, tags: ['shoes', 'red'], annex: Buffer.from('plan'), body, end: 500 };
  const store = await openStore(await filesWith(made));
  const hit = await store.find('/a', 499, () => true);
  expect(hit?.meta).toMatchObject({
    key: '/a',
    variant: 9,
    tags: ['shoes', 'red'],
    facts: Buffer.from('facts'),
    head: Buffer.from('HTTP/1.1 200 OK\r\n'),
    annex: Buffer.from('plan'),
    bodyLength: body.length,
  });
  await hit?.done();
  const found = await bodyIn(store, '/a');
  expect(Buffer.isBuffer(found) && found.equals(body)).toBe(true);
  expect(store.start).toBe('whole');
});

it('finds nothing that has ended', async () => {
  const store = await openStore(await filesWith({ end: 500 }));
  expect(await bodyIn(store, '/a', 500)).toBeNull();
});

it('finds after a kill what was written, without a seal', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files);
  await store.put(object(store, '/a'));
  const next = await openStore(files.after(null));
  expect(await bodyIn(next, '/a')).toEqual(bodyOf(1, 1000));
});

it('does not bring back what was purged, by key or surrogate key, whatever is lost of what was not synced', async () => {
  for (const [kind, text] of [
    ['key', '/a'],
    ['tag', 'shoes'],
  ] as const) {
    const files = await filesWith({ tags: ['shoes'] });
    const store = await openStore(files);
    await purge(store, text, kind);
    expect(await bodyIn(store, '/a')).toBeNull();
    const next = await openStore(files.after(() => 0.9));
    expect(await bodyIn(next, '/a')).toBeNull();
    expect(next.start).toBe('whole');
  }
});

it('does not store what a purge overtook while it was fetched', async () => {
  const store = await openStore(new FaultyFiles());
  const begun = object(store, '/a');
  await purge(store, '/a');
  expect(await store.put(begun)).toBe('invalidated');
  expect(await store.put(object(store, '/a'))).toBe('stored');
});

it('hands soft purges and bans that are newer than an object to its finder, also after a start', async () => {
  const files = await filesWith();
  const store = await openStore(files);
  await store.invalidate({ kind: 'soft-key', text: '/a', at: 77, ttl: 0, grace: 5, keep: -1 });
  await store.invalidate({ kind: 'soft-key', text: '/b', at: 78, ttl: 0, grace: 5, keep: -1 });
  await store.invalidate({ kind: 'ban', text: 'obj.status == 200', at: 79, ttl: 0, grace: 0, keep: 0 });
  for (const one of [store, await openStore(files.after(null))]) {
    const hit = await one.find('/a', 0, () => true);
    expect(hit?.concerns.soft).toMatchObject([{ text: '/a', at: 77, grace: 5, keep: -1 }]);
    expect(hit?.concerns.bans).toMatchObject([{ text: 'obj.status == 200', at: 79 }]);
    await hit?.done();
  }
});

it('forgets objects, not purges, when there are more purges than it keeps', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files, { invalidations: 3 });
  await store.put(object(store, '/a'));
  await store.put(object(store, '/b'));
  await purge(store, '/a');
  for (let i = 0; i < 3; i++) await purge(store, `/other${i}`);
  const since = store.newest;
  await store.put(object(store, '/c'));
  for (const one of [store, await openStore(files.after(null), { invalidations: 3 })]) {
    expect(await bodyIn(one, '/a')).toBeNull();
    expect(await bodyIn(one, '/b')).toBeNull();
    expect(await bodyIn(one, '/c')).not.toBeNull();
    expect(one.newest).toBe(since);
  }
});

it('begins empty when both copies of the journal are damaged, and reports it', async () => {
  const files = await filesWith();
  for (const name of files.contents.keys()) if (name.startsWith('journal')) files.flip(name, 100);
  const store = await openStore(files);
  expect(store.start).toBe('damaged journal');
  expect(await bodyIn(store, '/a')).toBeNull();
  expect([...files.contents.keys()].filter((name) => name.startsWith('segment'))).toEqual([]);
});

it('begins empty when the last entries of both copies are damaged: one of them was acknowledged', async () => {
  const files = await filesWith();
  const store = await openStore(files);
  await purge(store, '/a');
  const next = files.after(null);
  for (const [name, { bytes }] of next.contents) {
    if (name.startsWith('journal')) next.flip(name, bytes.length * 8 - 1);
  }
  const after = await openStore(next);
  expect([after.start, await bodyIn(after, '/a')]).toEqual(['damaged journal', null]);
});

it('does with one copy of the journal, wherever the other is damaged', async () => {
  const files = await filesWith();
  const store = await openStore(files);
  await purge(store, '/other');
  await purge(store, '/a');
  await store.put(object(store, '/b'));
  const journals = [...files.contents.keys()].filter((name) => name.startsWith('journal'));
  expect(journals).toHaveLength(2);
  for (const name of journals) {
    const bits = (files.contents.get(name)?.bytes.length ?? 0) * 8;
    for (let bit = 3; bit < bits; bit += 29) {
      const damaged = files.after(null);
      damaged.flip(name, bit);
      const next = await openStore(damaged);
      expect([next.start, await bodyIn(next, '/a')]).toEqual(['whole', null]);
      expect(await bodyIn(next, '/b')).not.toBeNull();
    }
  }
});

it('takes the torn end of the copy that was being written for the write of a kill', async () => {
  const files = await filesWith();
  for (let steps = 0; steps < 4; steps++) {
    const dying = files.after(null);
    const store = await openStore(dying);
    dying.diesAt = dying.steps + steps;
    await expect(purge(store, '/other')).rejects.toThrow();
    const next = await openStore(dying.after(null));
    expect([next.start, await bodyIn(next, '/a')]).toEqual(['whole', bodyOf(1, 1000)]);
  }
});

it('writes no object that knows of a purge which the journal could not take', async () => {
  const files = await filesWith();
  const store = await openStore(files);
  files.fails = (call) => (call === 'sync' ? new Error('EIO') : null);
  await expect(purge(store, '/other')).rejects.toThrow();
  expect(await store.put(object(store, '/b'))).toBe('failed');
  const next = await openStore(files.after(() => 0.9));
  expect([next.start, await bodyIn(next, '/b')]).toEqual(['whole', null]);
  expect(await bodyIn(next, '/a')).not.toBeNull();
});

it('begins empty with a journal that knows less than its objects', async () => {
  const files = await filesWith();
  const old = new Map([...files.contents].map(([name, { bytes }]) => [name, Buffer.from(bytes)]));
  const store = await openStore(files);
  await purge(store, '/a');
  await store.put(object(store, '/b'));
  await store.close();
  const mixed = new FaultyFiles();
  for (const [name, { bytes }] of files.contents) if (name.startsWith('segment')) mixed.put(name, bytes);
  for (const [name, bytes] of old) if (name.startsWith('journal')) mixed.put(name, bytes);
  const next = await openStore(mixed);
  expect(next.start).toBe('journal behind');
  expect(await bodyIn(next, '/a')).toBeNull();
});

it('drops segments of another tier or version', async () => {
  const files = await filesWith();
  const other = await filesWith();
  const segment = other.contents.get('segment-1')?.bytes as Buffer;
  files.put('segment-7', segment);
  files.put('segment-8', Buffer.alloc(10));
  const store = await openStore(files);
  expect(store.figures.c_segment_drop).toBe(2);
  expect(await bodyIn(store, '/a')).not.toBeNull();
});

it('turns a flipped bit anywhere in an object into a miss or a cut, and counts it', async () => {
  const body = bodyOf(5, BLOCK + 500);
  const template = await filesWith({ body });
  const bytes = template.contents.get('segment-1')?.bytes as Buffer;
  for (let bit = 4096 * 8; bit < bytes.length * 8; bit += 13_007) {
    const files = template.after(null);
    files.flip('segment-1', bit);
    const store = await openStore(files);
    const found = await bodyIn(store, '/a');
    // Beyond the record's end, and in the directory, which is then made again.
    if (Buffer.isBuffer(found)) expect(found.equals(body)).toBe(true);
    else expect([store.figures.c_checksum + store.figures.c_segment_drop, bit]).toEqual([1, bit]);
    expect(store.objects).toBe(Buffer.isBuffer(found) ? 1 : 0);
  }
});

it('removes the oldest segment when there is no room, and keeps to its size for ever', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files, { segments: 3, segmentBytes: 100_000, objects: 40 });
  for (let i = 0; i < 200; i++) {
    expect(await store.put(object(store, `/${i}`, { body: bodyOf(i, (i * 911) % 9000) }))).toBe('stored');
    expect(store.objects).toBeLessThanOrEqual(40);
  }
  expect(await bodyIn(store, '/199')).toEqual(bodyOf(199, (199 * 911) % 9000));
  expect(await bodyIn(store, '/0')).toBeNull();
  const sizes = [...files.contents].flatMap(([name, { bytes }]) =>
    name.startsWith('s') ? bytes.length : [],
  );
  expect(sizes.length).toBeLessThanOrEqual(3);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100_000);
});

it('lets a reader finish whose segment is removed meanwhile', async () => {
  const store = await openStore(new FaultyFiles(), { segments: 1, segmentBytes: 100_000 });
  await store.put(object(store, '/a', { body: bodyOf(1, 80_000) }));
  const hit = await store.find('/a', 0, () => true);
  await store.put(object(store, '/b', { body: bodyOf(2, 80_000) }));
  expect(await bodyIn(store, '/a')).toBeNull();
  expect((await hit?.block(1))?.equals(bodyOf(1, 80_000).subarray(BLOCK))).toBe(true);
  await hit?.done();
});

it('keeps newest objects when its index has become smaller', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files, { segmentBytes: 10_000 });
  for (let i = 0; i < 40; i++) await store.put(object(store, `/${i % 20}`, { body: bodyOf(i, 1000) }));
  await store.close();
  const next = await openStore(files.after(null), { segmentBytes: 10_000, objects: 12 });
  for (let i = 0; i < 20; i++) {
    const found = await bodyIn(next, `/${i}`);
    if (found !== null) expect(found).toEqual(bodyOf(i + 20, 1000));
  }
  expect(await bodyIn(next, '/19')).not.toBeNull();
});

it('has a segment for each object that is larger than one, up to an eighth of the disk, and keeps to its size', async () => {
  const sized = { segmentBytes: 10_000, segments: 32, waitingBytes: 1 << 20 };
  const files = new FaultyFiles();
  let store = await openStore(files, sized);
  for (let i = 0; i < 40; i++) {
    const large = bodyOf(i, 35_000);
    expect(
      await store.put(object(store, `/large${i % 20}`, { body: i % 2 === 0 ? large : heldBody(large) })),
    ).toBe('stored');
    await store.put(object(store, `/small${i}`, { body: bodyOf(i, 3000) }));
    expect(files.used, `${i}`).toBeLessThan(32 * 10_000 + 10_000);
    if (i % 10 !== 9) continue;
    if (i % 20 === 9) await store.close();
    store = await openStore(files, sized);
  }
  const kept: number[] = [];
  for (let i = 20; i < 40; i++) {
    const body = await bodyIn(store, `/large${i % 20}`);
    if (body === null) continue;
    expect(body).toEqual(bodyOf(i, 35_000));
    kept.push(i);
  }
  // Each with the segment of the small one after it takes five of 32.
  expect(kept).toEqual([34, 35, 36, 37, 38, 39]);
  expect(await store.put(object(store, '/larger', { body: bodyOf(1, 41_000) }))).toBe('dropped');
  expect(store.figures).toMatchObject({ c_write_drop: 1, c_write_large: 1 });
  expect(await bodyIn(store, '/large19')).not.toBeNull();
});

it('drops copies when more wait than it may hold, and does not find what they replace', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files, { waitingBytes: 5000 });
  await store.put(object(store, '/a'));
  const answers = await Promise.all(
    [1, 2, 3].map((id) => store.put(object(store, id === 3 ? '/a' : '/b', { body: bodyOf(id, 2400) }))),
  );
  expect(answers).toEqual(['stored', 'stored', 'dropped']);
  expect(store.figures.c_write_drop).toBe(1);
  expect(await bodyIn(store, '/a')).toBeNull();
});

it('counts a full device, and stores again when there is room', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files);
  await store.put(object(store, '/a'));
  files.fails = (call) => (call === 'write' ? new Error('ENOSPC') : null);
  expect(await store.put(object(store, '/b'))).toBe('failed');
  expect(await bodyIn(store, '/a')).not.toBeNull();
  files.fails = null;
  expect(await store.put(object(store, '/c'))).toBe('stored');
  expect(store.figures.c_write_fail).toBe(1);
  const next = await openStore(files.after(null));
  expect([await bodyIn(next, '/a'), await bodyIn(next, '/b')]).toEqual([bodyOf(1, 1000), null]);
  expect(await bodyIn(next, '/c')).not.toBeNull();
});

it('makes a read error a miss', async () => {
  const files = await filesWith();
  const store = await openStore(files);
  files.fails = (call) => (call === 'read' ? new Error('EIO') : null);
  expect(await bodyIn(store, '/a')).toBeNull();
  expect(store.figures.c_read_fail).toBe(1);
});

it('starts without a segment that cannot be read', async () => {
  const files = await filesWith();
  const store = await openStore(files);
  await store.put(object(store, '/b', { body: bodyOf(2, 390_000) }));
  await store.close();
  const next = files.after(null);
  let reads = 0;
  // The two copies of the journal are read first, then the older segment.
  next.fails = (call) => (call === 'read' && ++reads === 3 ? new Error('EIO') : null);
  const after = await openStore(next);
  expect([after.start, after.figures.c_read_fail, after.objects]).toEqual(['whole', 1, 1]);
  expect(await bodyIn(after, '/a')).toBeNull();
});

it('reports to the caller of a purge that it would not survive, and purges all the same', async () => {
  const files = await filesWith();
  const store = await openStore(files);
  files.fails = (call) => (call === 'sync' ? new Error('EIO') : null);
  await expect(purge(store, '/a')).rejects.toThrow('EIO');
  expect(await bodyIn(store, '/a')).toBeNull();
  files.fails = null;
  await expect(purge(store, '/b')).rejects.toThrow('EIO');
});

it('writes a thousand purges that come at once in a few groups', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files);
  let syncs = 0;
  files.fails = (call) => {
    if (call === 'sync') syncs++;
    return null;
  };
  await Promise.all(Array.from({ length: 1000 }, (_, i) => purge(store, `/${i}`)));
  expect(syncs).toBeLessThanOrEqual(4);
});

it('distinguishes keys, and variants of a key by their finder', async () => {
  const store = await openStore(new FaultyFiles());
  for (const variant of [1, 2, 3])
    await store.put(object(store, '/a', { variant, body: bodyOf(variant, 10) }));
  await store.put(object(store, '/a', { variant: 2, body: bodyOf(22, 10) }));
  const hit = await store.find('/a', 0, (meta) => meta.variant === 2);
  expect(await hit?.block(0)).toEqual(bodyOf(22, 10));
  await hit?.done();
  expect(await store.find('/a', 0, () => false)).toBeNull();
  expect(store.objects).toBe(3);
});

it('makes a read that takes too long a miss, and begins no more than it may', async () => {
  const files = await filesWith();
  const store = await openStore(files, { deadline: 0.01, reads: 2 });
  let heal = (): void => undefined;
  const healthy = new Promise<void>((resolve) => {
    heal = resolve;
  });
  files.pause = () => healthy;
  const found = await Promise.all([1, 2, 3].map(() => bodyIn(store, '/a')));
  expect(found).toEqual([null, null, null]);
  expect(store.figures).toMatchObject({ c_late: 2, c_busy: 1, c_miss: 3 });
  files.pause = null;
  heal();
  await expect.poll(() => bodyIn(store, '/a')).toEqual(bodyOf(1, 1000));
});

it('stores nothing and drops one segment at the most while its device refuses all', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files, { segments: 3, segmentBytes: 10_000 });
  for (let i = 0; i < 20; i++) await store.put(object(store, `/${i}`));
  const before = store.figures.c_segment_drop;
  const objects = store.objects;
  files.fails = (call) => (call === 'write' ? new Error('EIO') : null);
  for (let i = 0; i < 20; i++) expect(await store.put(object(store, `/x${i}`))).toBe('failed');
  expect(store.objects).toBeGreaterThan(objects / 2);
  expect([...files.contents.keys()].length).toBeLessThanOrEqual(2 + 3);
  expect(store.figures.c_segment_drop - before).toBe(1);
});

it('takes nothing of a record whose bytes before the body are not what was written', async () => {
  const template = await filesWith({ tags: ['shoes'], body: Buffer.alloc(0) });
  const good = await (await openStore(template.after(null))).find('/a', 0, () => true);
  for (let bit = 4096 * 8; bit < (4096 + (good?.meta.bodyAt ?? 0)) * 8; bit += 3) {
    const files = template.after(null);
    files.flip('segment-1', bit);
    const store = await openStore(files);
    expect([bit, await store.find('/a', 0, () => true)]).toEqual([bit, null]);
  }
});

it('does not find after a kill an object whose body was being written', async () => {
  const files = await filesWith();
  const store = await openStore(files);
  await store.put(object(store, '/b', { body: bodyOf(2, 10) }));
  files.diesAt = files.steps;
  expect(await store.put(object(store, '/c', { body: bodyOf(3, 100_000) }))).toBe('failed');
  const next = await openStore(files.after(null));
  expect(next.objects).toBe(2);
  expect(await bodyIn(next, '/c')).toBeNull();
});

/** Numbers in [0, 1) that follow from `seed`. */
function numbers(seed: number): () => number {
  let state = seed * 7919 + 1;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

it.each([
  ['whole', false],
  ['damaged', true],
] as const)(
  'starts again after a loss of power at each step of a start, with a %s journal',
  async (_, isDamaged) => {
    const left = await filesWith();
    const store = await openStore(left);
    await purge(store, '/a');
    await store.put(object(store, '/b'));
    await store.close();
    for (const [name, { bytes }] of left.contents) {
      if (isDamaged && name.startsWith('journal')) left.flip(name, bytes.length * 8 - 1);
    }
    for (let steps = 0; steps < 40; steps++) {
      for (let seed = 0; seed < 6; seed++) {
        const dying = left.after(null);
        dying.diesAt = steps;
        await openStore(dying).catch(() => undefined);
        const next = await openStore(dying.after(numbers(steps * 6 + seed)));
        expect(await bodyIn(next, '/a')).toBeNull();
        expect((await bodyIn(next, '/b')) === null).toBe(isDamaged);
      }
    }
  },
);

it('does not bring back what it was emptied of, whatever is lost of what was not synced, nor what was being fetched', async () => {
  const files = await filesWith();
  const store = await openStore(files);
  const begun = object(store, '/b');
  await store.empty();
  expect(await bodyIn(store, '/a')).toBeNull();
  expect(await store.put(begun)).toBe('invalidated');
  expect(await store.put(object(store, '/c'))).toBe('stored');
  expect([...files.contents.keys()].filter((name) => name.startsWith('segment-'))).toHaveLength(1);
  for (const kept of [0, 0.9]) {
    const next = await openStore(files.after(() => kept));
    expect(next.start).toBe('whole');
    expect(await bodyIn(next, '/a')).toBeNull();
    expect(await bodyIn(next, '/b')).toBeNull();
  }
  expect(await bodyIn(await openStore(files.after(null)), '/c')).toEqual(bodyOf(1, 1000));
});

it('fails to empty a device that does not write, and finds nothing any more', async () => {
  const files = await filesWith();
  const store = await openStore(files);
  files.fails = (call) => (call === 'sync' ? new Error('EIO') : null);
  await expect(store.empty()).rejects.toThrow('EIO');
  expect(await bodyIn(store, '/a')).toBeNull();
});

it('checks all objects, and does not find the damaged ones any more', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files);
  const body = bodyOf(2, 3 * BLOCK);
  for (const key of ['/a', '/b', '/c']) await store.put(object(store, key, { body }));
  const whole = await checkObjects(store, store.figures);
  expect(whole).toMatchObject({ objects: 3, damaged: 0, unreadable: 0 });
  expect(whole.bytes).toBeGreaterThan(3 * body.length);
  // In the last block of the second one.
  files.flip('segment-1', (4096 + body.length + 200 + body.length) * 8);
  expect(await checkObjects(store, store.figures)).toMatchObject({ objects: 3, damaged: 1, unreadable: 0 });
  expect(store.figures.c_checksum).toBe(1);
  expect(store.objects).toBe(2);
  expect(await bodyIn(store, '/b')).toBeNull();
  // In what precedes the body of the first.
  files.flip('segment-1', (4096 + 100) * 8);
  expect(await checkObjects(store, store.figures)).toMatchObject({ objects: 2, damaged: 1, unreadable: 0 });
  expect(store.objects).toBe(1);
  files.fails = (call) => (call === 'read' ? new Error('EIO') : null);
  expect(await checkObjects(store, store.figures)).toMatchObject({ objects: 1, damaged: 0, unreadable: 1 });
});

it('finds no older object whose write was still to come when a newer one could not be stored', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files, { waitingBytes: 10_000 });
  const first = store.put(object(store, '/a', { body: bodyOf(1, 9000) }));
  const second = store.put(object(store, '/a', { body: bodyOf(2, 9000) }));
  expect([await first, await second]).toEqual(['replaced', 'dropped']);
  expect(await bodyIn(store, '/a')).toBeNull();
  const third = store.put(object(store, '/a'));
  store.forgetKey('/a');
  expect(await third).toBe('replaced');
  expect(await bodyIn(store, '/a')).toBeNull();
});

it('stores an object again whose segment is to go soon, unless another has replaced it', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files, { segments: 4 });
  const body = bodyOf(1, 100_000);
  for (let i = 0; i < 10; i++) await store.put(object(store, `/${i}`, { body }));
  const hit = await store.find('/0', 0, () => true);
  if (hit === null) throw new Error('not found');
  expect(store.isAging(hit.entry.segment)).toBe(true);
  expect(store.isAging(hit.entry.segment + 3)).toBe(false);
  expect(await store.putAgain(hit, body)).toBe('stored');
  await hit.done();
  for (let i = 10; i < 17; i++) await store.put(object(store, `/${i}`, { body }));
  expect(await bodyIn(store, '/0')).toEqual(body);
  expect(await bodyIn(store, '/1')).toBeNull();

  const second = await store.find('/0', 0, () => true);
  if (second === null) throw new Error('not found');
  const newer = store.put(object(store, '/0', { body: bodyOf(9, 50) }));
  expect(await store.putAgain(second, body)).toBe('replaced');
  expect(await newer).toBe('stored');
  expect(await bodyIn(store, '/0')).toEqual(bodyOf(9, 50));
  // One that was purged is not stored again.
  const third = await store.find('/0', 0, () => true);
  if (third === null) throw new Error('not found');
  await purge(store, '/0');
  expect(await store.putAgain(third, bodyOf(9, 50))).toBe('invalidated');
  expect(await bodyIn(store, '/0')).toBeNull();
});

it('reads into a buffer again once its reader is done, and what is stored again keeps its own bytes', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files, { segments: 4 });
  const body = bodyOf(1, 100_000);
  for (let i = 0; i < 10; i++)
    await store.put(object(store, `/${i}`, { body, head: Buffer.from(`head ${i}`) }));
  const find = async (key: string): Promise<DiskHit> => {
    const hit = await store.find(key, 0, () => true);
    if (hit === null) throw new Error(`${key} not found`);
    return hit;
  };
  const first = await find('/0');
  const other = await find('/1');
  expect(other.meta.head.buffer === first.meta.head.buffer).toBe(false);
  const used = first.meta.head.buffer;
  // Written later than the next find reads.
  const again = store.putAgain(first, body);
  void first.done();
  const second = await find('/9');
  expect(second.meta.head.buffer === used).toBe(true);
  expect(Buffer.from(other.meta.head).toString()).toBe('head 1');
  expect(await again).toBe('stored');
  await second.done();
  await other.done();
  const stored = await find('/0');
  expect(Buffer.from(stored.meta.head).toString()).toBe('head 0');
  expect(await stored.block(1)).toEqual(body.subarray(BLOCK));
  await stored.done();
});

it('removes files of another version, and reports it', async () => {
  const files = await filesWith();
  const name = [...files.contents.keys()].find((one) => one.startsWith('segment-')) as string;
  const { bytes } = files.contents.get(name) as { bytes: Buffer };
  bytes.writeUInt32LE(bytes.readUInt32LE(8) + 1, 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(8, 64)), 4);
  const store = await openStore(files);
  expect(store.ofOtherVersion).toBe(1);
  expect(store.start).toBe('whole');
  expect(await bodyIn(store, '/a')).toBeNull();
  expect([...files.contents.keys()]).not.toContain(name);
});

it('says how much there is, and how old it is, also after a start', async () => {
  let now = 1000;
  const files = new FaultyFiles();
  const store = await openStore(files, { now: () => now });
  await store.put(object(store, '/a'));
  now = 1500;
  store.sample(now);
  expect(store.figures).toMatchObject({
    g_objects: 1,
    g_segments: 1,
    g_oldest: 500,
    g_waiting: 0,
    c_write: 1,
  });
  expect(store.figures.g_bytes + store.figures.g_space).toBe(1000 * 400_000);
  expect(store.figures.c_write_object_bytes).toBe(1000 + 'HTTP/1.1 200 OK\r\n'.length);
  await store.close();
  const next = await openStore(files.after(null));
  next.sample(1700);
  expect(next.figures).toMatchObject({ g_objects: 1, g_oldest: 700 });
});

it('reads an object that is not large at once, also after a start', async () => {
  const files = new FaultyFiles();
  const store = await openStore(files);
  const body = bodyOf(1, 70_000);
  await store.put(object(store, '/a', { body }));
  await store.put(object(store, '/b', { body }));
  let reads = 0;
  const count = (one: FaultyFiles): void => {
    one.fails = (call) => {
      if (call === 'read') reads++;
      return null;
    };
  };
  count(files);
  expect(await bodyIn(store, '/a')).toEqual(body);
  expect(reads).toBe(1);
  await store.close();
  const after = files.after(null);
  const next = await openStore(after);
  count(after);
  for (const key of ['/a', '/b']) expect(await bodyIn(next, key)).toEqual(body);
  expect(reads).toBe(3);
});
