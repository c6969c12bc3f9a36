// Shared by the tests of the disk tier: small stores, objects whose bodies say which they are, and a reader that checks them.

import type { TierBody } from '../../../daemon/cache/tier-events.ts';
import type { DiskOptions } from '../../../daemon/disk/disk-options.ts';
import type { DiskObject } from '../../../daemon/disk/disk-record.ts';
import { DiskStore } from '../../../daemon/disk/disk-store.ts';
import type { FaultyFiles } from './faulty-files.ts';

export const NEVER = 2 ** 31;

let seeds = 0;

export function options(changes: Partial<DiskOptions> = {}): DiskOptions {
  return {
    segmentBytes: 400_000,
    segments: 1000,
    objects: 10_000,
    invalidations: 10_000,
    waitingBytes: 1 << 20,
    reads: 64,
    deadline: 60,
    now: () => 1000,
    sync: () => 'group',
    seed: () => [++seeds, 7],
    ...changes,
  };
}

export function openStore(files: FaultyFiles, changes: Partial<DiskOptions> = {}): Promise<DiskStore> {
  return DiskStore.open(files, options(changes));
}

/** A body of `bytes` that no other `id` has. */
export function bodyOf(id: number, bytes: number): Buffer {
  const body = Buffer.alloc(bytes);
  for (let i = 0; i < bytes; i++) body[i] = (id * 31 + i * 7 + (i >> 8)) & 255;
  return body;
}

/** A body as one that stays in the cache's memory. */
export function heldBody(body: Buffer): TierBody {
  let isHeld = true;
  return {
    length: body.length,
    copy: (at, into) => isHeld && body.copy(into, 0, at) === into.length,
    release: () => {
      if (!isHeld) throw new Error('released twice');
      isHeld = false;
    },
  };
}

export function object(store: DiskStore, key: string, changes: Partial<DiskObject> = {}): DiskObject {
  return {
    key,
    variant: 0,
    since: store.newest,
    end: NEVER,
    tags: [],
    facts: Buffer.from('facts'),
    head: Buffer.from('HTTP/1.1 200 OK\r\n'),
    annex: Buffer.alloc(0),
    body: bodyOf(1, 1000),
    ...changes,
  };
}

/** The body found under a key; null for a miss, 'cut' for one that a damaged block ends. */
export async function bodyIn(store: DiskStore, key: string, now = 0): Promise<Buffer | 'cut' | null> {
  const hit = await store.find(key, now, () => true);
  if (hit === null) return null;
  const blocks: Buffer[] = [];
  for (let i = 0; i < hit.meta.sums.length; i++) {
    const block = await hit.block(i);
    if (block === null) {
      await hit.done();
      return 'cut';
    }
    blocks.push(Buffer.from(block));
  }
  await hit.done();
  return Buffer.concat(blocks);
}

export function purge(store: DiskStore, text: string, kind: 'key' | 'tag' = 'key'): Promise<void> {
  return store.invalidate({ kind, text, at: 0, ttl: 0, grace: 0, keep: 0 });
}
