// Files in memory that lose power, fail and forget at any step: what a device may do with what was not synced.
//
// Of unsynced writes each sector of 512 bytes may be there or not, whatever the order; a file created or removed may be so or
// not until the names are synced. Every call is a step, and the process can die before each of them.

import type { DiskFile, DiskFiles } from '../../../daemon/disk/disk-files.ts';

const SECTOR = 512;

let identities = 0;

interface Content {
  /** Distinguishes the file from a copy. */
  identity: number;
  /** As a reader sees it. */
  bytes: Buffer;
  /** On the device for certain. */
  durable: Buffer;
}

/** The process died: nothing after it happens. */
class Died extends Error {}

export class FaultyFiles implements DiskFiles {
  steps = 0;
  /** The step before which the process dies. */
  diesAt = Number.POSITIVE_INFINITY;
  /** An error for a call, by what it does. */
  fails: ((call: string) => Error | null) | null = null;
  /** Resolves calls: tests may hold a device up. */
  pause: (() => Promise<void>) | null = null;
  /** Bytes of the device; with fewer left a write does what it can, and fails. */
  room = Number.POSITIVE_INFINITY;
  /** Called when a file was removed. */
  onRemove: (() => void) | null = null;
  contents = new Map<string, Content>();
  private durableNames = new Map<string, Content>();
  private isDead = false;

  names(): Promise<string[]> {
    return this.step('names', () => [...this.contents.keys()]);
  }

  open(name: string): Promise<DiskFile> {
    return this.step('open', () => this.handle(this.content(name)));
  }

  create(name: string): Promise<DiskFile> {
    return this.step('create', () => {
      if (this.contents.has(name)) throw new Error(`EEXIST ${name}`);
      const content = { identity: ++identities, bytes: Buffer.alloc(0), durable: Buffer.alloc(0) };
      this.contents.set(name, content);
      return this.handle(content);
    });
  }

  remove(name: string): Promise<void> {
    return this.step('remove', () => {
      this.content(name);
      this.contents.delete(name);
      this.onRemove?.();
    });
  }

  /** Bytes of all files. */
  get used(): number {
    let bytes = 0;
    for (const content of this.contents.values()) bytes += content.bytes.length;
    return bytes;
  }

  syncNames(): Promise<void> {
    return this.step('syncNames', () => {
      this.durableNames = new Map(this.contents);
    });
  }

  /** The files as the next process finds them. `random` in [0, 1) decides what the device kept; null: all, as after kill -9. */
  after(random: (() => number) | null): FaultyFiles {
    const next = new FaultyFiles();
    const names = new Set([...this.contents.keys(), ...this.durableNames.keys()]);
    for (const name of names) {
      const seen = this.contents.get(name);
      const kept = this.durableNames.get(name);
      const content = random === null || seen === kept || random() < 0.5 ? seen : kept;
      if (content === undefined) continue;
      const bytes = random === null ? Buffer.from(content.bytes) : survivors(content, random);
      next.put(name, bytes, content.identity);
    }
    return next;
  }

  /** Inverts a bit. */
  flip(name: string, bit: number): void {
    const { bytes } = this.content(name);
    const at = Math.floor(bit / 8);
    bytes[at] = (bytes[at] as number) ^ (1 << (bit % 8));
  }

  /** A copy of all files, as they are now. */
  copied(): FaultyFiles {
    const copy = new FaultyFiles();
    for (const [name, { bytes }] of this.contents) copy.put(name, Buffer.from(bytes));
    return copy;
  }

  put(name: string, bytes: Buffer, identity = ++identities): void {
    const content = { identity, bytes, durable: Buffer.from(bytes) };
    this.contents.set(name, content);
    this.durableNames.set(name, content);
  }

  private content(name: string): Content {
    const content = this.contents.get(name);
    if (content === undefined) throw new Error(`ENOENT ${name}`);
    return content;
  }

  private handle(content: Content): DiskFile {
    return {
      read: (into, at) =>
        this.step('read', () => (at < content.bytes.length ? content.bytes.copy(into, 0, at) : 0)),
      write: (bytes, at) => this.write(content, bytes, at),
      sync: () =>
        this.step('sync', () => {
          content.durable = Buffer.from(content.bytes);
        }),
      identity: () => this.step('identity', () => String(content.identity)),
      size: () => this.step('size', () => content.bytes.length),
      close: () => this.step('close', () => undefined),
    };
  }

  private write(content: Content, bytes: Uint8Array, at: number): Promise<void> {
    const copy = Buffer.from(bytes);
    const apply = (length: number): void => {
      const end = Math.max(content.bytes.length, at + length);
      const grown = Buffer.alloc(end);
      content.bytes.copy(grown);
      grown.set(copy.subarray(0, length), at);
      content.bytes = grown;
    };
    // One that is killed has written a part.
    return this.step(
      'write',
      () => {
        const more = Math.max(0, at + copy.length - content.bytes.length);
        const left = this.room - this.used;
        if (more <= left) apply(copy.length);
        else {
          apply(Math.max(0, copy.length - more + left));
          throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
        }
      },
      () => apply(copy.length >> 1),
    );
  }

  private async step<T>(call: string, act: () => T, half?: () => void): Promise<T> {
    if (this.pause !== null) await this.pause();
    if (this.isDead) throw new Died('dead');
    if (this.steps++ >= this.diesAt) {
      half?.();
      this.isDead = true;
      throw new Died('died');
    }
    const error = this.fails?.(call) ?? null;
    if (error !== null) throw error;
    return act();
  }
}

/** Of what differs from what is durable, any sectors. */
function survivors({ bytes, durable }: Content, random: () => number): Buffer {
  const isLonger = random() < 0.5;
  const end = isLonger ? bytes.length : Math.min(bytes.length, durable.length);
  const kept = Buffer.alloc(end);
  durable.copy(kept, 0, 0, end);
  for (let at = 0; at < end; at += SECTOR) {
    const isSame = bytes.subarray(at, at + SECTOR).equals(durable.subarray(at, at + SECTOR));
    if (!isSame && random() < 0.5) bytes.copy(kept, at, at, Math.min(at + SECTOR, end));
  }
  return kept;
}
