// The invalidations on disk: two copies, written and synced one after the other, before a purge is answered.
//
// Why two: at the end of one copy, a torn write and a damaged entry that was acknowledged look the same, and one of them must
// not be dropped. With two, a crash can tear at most the one that was being written. If both are torn, something else has
// happened to them: then the set of purges is unknown, and the tier begins empty.
//
// Entries that arrive while a group is being written wait for the next one. A journal that has failed once accepts nothing
// more: after a failed sync the contents of the device are unknown.

import type { DiskFile, DiskFiles } from './disk-files.ts';
import type { DiskSync } from './disk-options.ts';
import type { Invalidation, Invalidations } from './invalidations.ts';
import { encodeEntry, type JournalCopy, type ParsedCopy, parseCopy } from './journal-copy.ts';

const NAME = /^journal-(\d{1,15})-([ab])$/;
const SIDES = ['a', 'b'] as const;
/** Entries in one write while a journal is copied. */
const BATCH = 1000;
/** A journal is copied when it is this long and twice as long as after the last copy: bytes. */
const WORTH_COPYING = 4 << 20;

/** The journals found in a directory. */
export interface FoundJournal {
  /** The newest valid journal; null if there is none. */
  readonly copy: JournalCopy | null;
  /** Highest number of a generation in the directory. */
  readonly generation: number;
  /** Both copies are damaged. */
  readonly isDamaged: boolean;
}

/** Reads the journal of a directory. */
export async function findJournal(files: DiskFiles): Promise<FoundJournal> {
  const found = new Map<number, string[]>();
  for (const name of await files.names()) {
    const generation = NAME.exec(name)?.[1];
    if (generation === undefined) continue;
    found.set(Number(generation), [...(found.get(Number(generation)) ?? []), name]);
  }
  const generations = [...found.keys()].sort((a, b) => b - a);
  const generation = generations[0] ?? 0;
  for (const number of generations) {
    const parsed: ParsedCopy[] = [];
    for (const name of found.get(number) ?? []) parsed.push(await parseCopy(await contents(files, name)));
    if (parsed.length === 2 && parsed.every((one) => one.isTorn)) break;
    const copies = parsed.flatMap((one) => (one.copy === null ? [] : [one.copy]));
    // Copies are equal up to the shorter one's end: the longer has all.
    const copy = copies.sort((a, b) => b.newest - a.newest)[0];
    if (copy !== undefined) return { copy, generation, isDamaged: false };
  }
  return { copy: null, generation, isDamaged: generations.length > 0 };
}

async function contents(files: DiskFiles, name: string): Promise<Buffer> {
  const file = await files.open(name);
  try {
    const bytes = Buffer.alloc(await file.size());
    return bytes.subarray(0, await file.read(bytes, 0));
  } finally {
    await file.close();
  }
}

export class DiskJournal {
  /** The newest number that both copies hold. */
  committed: number;
  private readonly files: DiskFiles;
  private readonly invalidations: Invalidations;
  private readonly sync: () => DiskSync;
  /** Text of the first entry. */
  private readonly origin: string;
  private generation: number;
  private readonly sides: DiskFile[] = [];
  private bytes = 0;
  private bytesCopied = 0;
  private waiting: Invalidation[] = [];
  private writing: Promise<void> = Promise.resolve();
  private error: Error | null = null;

  private constructor(
    files: DiskFiles,
    invalidations: Invalidations,
    origin: string,
    generation: number,
    sync: () => DiskSync,
  ) {
    this.files = files;
    this.sync = sync;
    this.invalidations = invalidations;
    this.origin = origin;
    this.generation = generation;
    this.committed = invalidations.newest;
  }

  /** A new journal that begins with the invalidations there are, in place of all older ones. */
  static async begin(
    files: DiskFiles,
    invalidations: Invalidations,
    origin: string,
    generation: number,
    sync: () => DiskSync,
  ): Promise<DiskJournal> {
    const journal = new DiskJournal(files, invalidations, origin, generation, sync);
    await journal.copy();
    return journal;
  }

  /** Adds an invalidation, which applies from now on, and resolves when it is on the device; without sync, when the system has
   * it. */
  async add(one: Omit<Invalidation, 'sequence'>): Promise<void> {
    const numbered = { ...one, sequence: this.invalidations.newest + 1 };
    this.invalidations.add(numbered);
    this.waiting.push(numbered);
    await this.commit(numbered.sequence);
  }

  /** Resolves when all up to this number are on the device; fails when they cannot be. */
  async commit(sequence: number): Promise<void> {
    while (this.committed < sequence) {
      if (this.error !== null) throw this.error;
      // Whoever comes first writes for all that have come until then.
      const turn = this.writing.then(() => this.writeGroup());
      this.writing = turn.catch(() => undefined);
      await turn;
    }
  }

  async close(): Promise<void> {
    await this.writing;
    for (const side of this.sides) await side.close();
  }

  private async writeGroup(): Promise<void> {
    if (this.error !== null) throw this.error;
    const group = this.waiting;
    if (group.length === 0) return;
    this.waiting = [];
    try {
      const bytes = Buffer.concat(group.map(encodeEntry));
      for (const side of this.sides) {
        await side.write(bytes, this.bytes);
        if (this.sync() !== 'off') await side.sync();
      }
      this.bytes += bytes.length;
      this.committed = (group.at(-1) as Invalidation).sequence;
      if (this.bytes > WORTH_COPYING && this.bytes > this.bytesCopied * 2) {
        this.generation++;
        await this.copy();
      }
    } catch (error) {
      this.error = error as Error;
      throw error;
    }
  }

  /** Writes a new generation, and removes the others once it is whole. */
  private async copy(): Promise<void> {
    const { files, invalidations, generation } = this;
    const older = (await files.names()).filter((name) => NAME.test(name));
    for (const side of this.sides.splice(0)) await side.close();
    // The window may grow while this is written: what was added since comes with its own group.
    const all = [...invalidations.all()].filter((one) => one.sequence <= this.committed);
    const floor = Math.min(invalidations.floor, this.committed);
    for (const side of SIDES) {
      const file = await files.create(nameOf(generation, side));
      this.sides.push(file);
      let at = 0;
      const write = async (bytes: Buffer): Promise<void> => {
        await file.write(bytes, at);
        at += bytes.length;
      };
      await write(encodeEntry({ kind: 'begin', sequence: floor, text: this.origin }));
      for (let first = 0; first < all.length; first += BATCH) {
        await write(Buffer.concat(all.slice(first, first + BATCH).map(encodeEntry)));
      }
      await write(encodeEntry({ kind: 'complete', sequence: this.committed }));
      await file.sync();
      this.bytes = at;
      this.bytesCopied = at;
    }
    await files.syncNames();
    for (const name of older) await files.remove(name);
    await files.syncNames();
  }
}

function nameOf(generation: number, side: string): string {
  return `journal-${generation}-${side}`;
}
