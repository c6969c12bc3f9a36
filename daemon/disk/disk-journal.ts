// The invalidations on disk: two copies, written and synced one after the other, before a purge is answered.
//
// Why two: at the end of one copy, a torn write and a damaged entry that was acknowledged look the same, and one of them must
// not be dropped. With two, a crash can tear at most the one that was being written. If both are torn, something else has
// happened to them: then the set of purges is unknown, and the tier begins empty.
//
// Entries that arrive while a group is being written wait for the next one. A journal that has failed once accepts nothing
// more: after a failed sync the contents of the device are unknown. A write that found no room has not failed yet: it is done
// again, at the same place, once a segment has gone.

import type { DiskFile, DiskFiles } from './disk-files.ts';
import type { DiskSync } from './disk-options.ts';
import { type FullDevice, isFull } from './full-device.ts';
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
  /** The file is not the one that was written. */
  readonly isCopied: boolean;
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
    const parsed: (ParsedCopy & { readonly identity: string })[] = [];
    for (const name of found.get(number) ?? []) parsed.push(await readCopy(files, name));
    if (parsed.length === 2 && parsed.every((one) => one.isTorn)) break;
    const copies = parsed.flatMap(({ copy, identity }) => (copy === null ? [] : [{ copy, identity }]));
    // Copies are equal up to the shorter one's end: the longer has all.
    const best = copies.sort((a, b) => b.copy.newest - a.copy.newest)[0];
    if (best === undefined) continue;
    const { copy, identity } = best;
    return { copy, generation, isDamaged: false, isCopied: copy.place !== null && copy.place !== identity };
  }
  return { copy: null, generation, isDamaged: generations.length > 0, isCopied: false };
}

async function readCopy(files: DiskFiles, name: string): Promise<ParsedCopy & { readonly identity: string }> {
  const file = await files.open(name);
  try {
    const bytes = Buffer.alloc(await file.size());
    const parsed = await parseCopy(bytes.subarray(0, await file.read(bytes, 0)));
    return { ...parsed, identity: await file.identity() };
  } finally {
    await file.close();
  }
}

/** Removes all journals, also from a device that loses power then: the next start finds no objects. */
export async function removeJournals(files: DiskFiles): Promise<void> {
  for (const name of await files.names()) if (NAME.test(name)) await files.remove(name);
  await files.syncNames();
}

/** Both copies of a generation, open, and the length of each. */
interface Copied {
  readonly sides: DiskFile[];
  readonly bytes: number;
}

interface JournalParts {
  readonly files: DiskFiles;
  readonly invalidations: Invalidations;
  readonly sync: () => DiskSync;
  /** Text of the first entry. */
  readonly origin: string;
  readonly room: FullDevice;
}

export class DiskJournal {
  /** The newest number that both copies hold. */
  committed: number;
  private readonly parts: JournalParts;
  private generation: number;
  private sides: DiskFile[] = [];
  private bytes = 0;
  private bytesCopied = 0;
  private waiting: Invalidation[] = [];
  private writing: Promise<void> = Promise.resolve();
  private error: Error | null = null;

  private constructor(parts: JournalParts, generation: number) {
    this.parts = parts;
    this.generation = generation;
    this.committed = parts.invalidations.newest;
  }

  /** A new journal that begins with the invalidations there are, in place of all older ones. */
  static async begin(parts: JournalParts, generation: number): Promise<DiskJournal> {
    const { journal, begun } = DiskJournal.beginning(parts, generation);
    await begun;
    return journal;
  }

  /** As begin(), but it accepts invalidations at once, which wait until it is there. */
  static beginning(
    parts: JournalParts,
    generation: number,
  ): { readonly journal: DiskJournal; readonly begun: Promise<void> } {
    const journal = new DiskJournal(parts, generation);
    const begun = parts.room
      .forJournal(() => journal.copy())
      .then((copied) => journal.replaceBy(copied))
      .catch((error: Error) => {
        journal.error = error;
        throw error;
      });
    journal.writing = begun.catch(() => undefined);
    return { journal, begun };
  }

  /** A number that is no older journal's. */
  get nextGeneration(): number {
    return this.generation + 1;
  }

  /** Adds an invalidation, which applies from now on, and resolves when it is on the device; without sync, when the system has
   * it. */
  async add(one: Omit<Invalidation, 'sequence'>): Promise<void> {
    const { invalidations } = this.parts;
    const numbered = { ...one, sequence: invalidations.newest + 1 };
    invalidations.add(numbered);
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

  /** @param at seconds since 1970 */
  async close(at: number): Promise<void> {
    await this.writing;
    // A copy that is made from now on has all invalidations.
    const closing = encodeEntry({ kind: 'closed', sequence: this.committed, at });
    try {
      for (const side of this.error === null && this.waiting.length === 0 ? this.sides : []) {
        await side.write(closing, this.bytes);
        if (this.parts.sync() !== 'off') await side.sync();
      }
    } catch {
      // Without it this counts as a kill.
    }
    this.error ??= new Error('the journal is closed');
    for (const side of this.sides.splice(0)) await side.close();
  }

  private async writeGroup(): Promise<void> {
    if (this.error !== null) throw this.error;
    const group = this.waiting;
    if (group.length === 0) return;
    this.waiting = [];
    const { room, sync } = this.parts;
    try {
      const bytes = Buffer.concat(group.map(encodeEntry));
      for (const side of this.sides) {
        await room.forJournal(() => side.write(bytes, this.bytes));
        if (sync() !== 'off') await side.sync();
      }
      this.bytes += bytes.length;
      this.committed = (group.at(-1) as Invalidation).sequence;
      if (this.bytes > WORTH_COPYING && this.bytes > this.bytesCopied * 2) await this.shorten();
    } catch (error) {
      this.error = error as Error;
      throw error;
    }
  }

  /** Without room for a copy the journal grows. */
  private async shorten(): Promise<void> {
    const { files } = this.parts;
    this.generation++;
    let copied: Copied;
    try {
      copied = await this.copy();
    } catch (error) {
      if (!isFull(error)) throw error;
      // One that is whole would be taken for the newest.
      for (const name of await files.names()) if (this.isOwn(name)) await files.remove(name);
      await files.syncNames();
      this.generation--;
      this.bytesCopied = this.bytes;
      return;
    }
    await this.replaceBy(copied);
  }

  private isOwn(name: string): boolean {
    return SIDES.some((side) => name === nameOf(this.generation, side));
  }

  /** Appends to a new generation from now on, which is whole, and removes the others. */
  private async replaceBy({ sides, bytes }: Copied): Promise<void> {
    const { files } = this.parts;
    for (const side of this.sides) await side.close();
    this.sides = sides;
    this.bytes = bytes;
    this.bytesCopied = bytes;
    for (const name of await files.names())
      if (NAME.test(name) && !this.isOwn(name)) await files.remove(name);
    await files.syncNames();
  }

  /** Writes a new generation. */
  private async copy(): Promise<Copied> {
    const { files, invalidations, origin } = this.parts;
    const names = await files.names();
    // The window may grow while this is written: what was added since comes with its own group.
    const all = [...invalidations.all()].filter((one) => one.sequence <= this.committed);
    const floor = Math.min(invalidations.floor, this.committed);
    const sides: DiskFile[] = [];
    let at = 0;
    try {
      for (const side of SIDES) {
        const name = nameOf(this.generation, side);
        // Of an attempt that found no room.
        if (names.includes(name)) await files.remove(name);
        const file = await files.create(name);
        sides.push(file);
        at = 0;
        const write = async (bytes: Buffer): Promise<void> => {
          await file.write(bytes, at);
          at += bytes.length;
        };
        await write(encodeEntry({ kind: 'begin', sequence: floor, text: origin }));
        await write(encodeEntry({ kind: 'place', sequence: floor, text: await file.identity() }));
        for (let first = 0; first < all.length; first += BATCH) {
          await write(Buffer.concat(all.slice(first, first + BATCH).map(encodeEntry)));
        }
        await write(encodeEntry({ kind: 'complete', sequence: this.committed }));
        await file.sync();
      }
      await files.syncNames();
    } catch (error) {
      for (const side of sides) await side.close();
      throw error;
    }
    return { sides, bytes: at };
  }
}

function nameOf(generation: number, side: string): string {
  return `journal-${generation}-${side}`;
}
