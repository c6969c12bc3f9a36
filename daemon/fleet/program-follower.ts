// Runs here what the fleet runs: loads the programs that the bus keeps, the one that is to be active first, and switches when
// another is chosen. A program that cannot be loaded here is tried again, and holds up whoever would choose it.
//
// A node switches once for each choice: an operator who uses another program here (vcl.use) keeps it until the next one. When
// the bucket is gone, or a value in it is none, everything stays as it is.

import {
  type ActivePrograms,
  type ChosenProgram,
  chosenFor,
  NOTHING_ACTIVE,
  readActive,
} from './active-program.ts';
import type { StoredEntry } from './bus.ts';
import { ACTIVE, MOST_PROGRAMS, programOfKey } from './fleet-names.ts';
import type { ProgramFigures } from './node-messages.ts';
import { type Bundle, readBundle } from './program-bundle.ts';

/** The programs of this proxy; a text says what went wrong. */
export interface ProgramHost {
  load(name: string, bundle: Bundle): Promise<string | null>;
  use(name: string): Promise<string | null>;
  discard(name: string): Promise<string | null>;
  has(name: string): boolean;
  active(): string | null;
}

export interface FollowerParts {
  readonly host: ProgramHost;
  readonly node: string;
  report(level: 'info' | 'warning', text: string): void;
  /** What it has loaded or runs has changed. */
  changed(): void;
}

/** What the bucket has. */
export interface Bucket {
  /** By name; a text says why it is none. */
  readonly programs: ReadonlyMap<string, Stored>;
  readonly active: ActivePrograms;
  /** 0 while nothing was ever chosen. */
  readonly activeRevision: number;
}

export interface Stored {
  readonly revision: number;
  readonly bytes: number;
  readonly bundle: Bundle | string;
}

/** A program of the fleet as it is here, by the id of its bundle. */
interface Loaded {
  readonly name: string;
  /** What it is called here: another name where that one is taken. */
  readonly local: string;
  /** Why it is not loaded. */
  readonly problem: string | null;
  readonly triedAt: number;
}

/** Milliseconds until a program that could not be loaded is tried again (chosen): what it lacks may have come. */
const AGAIN = 10_000;
/** Milliseconds between two refusals in the log (chosen). */
const QUIET = 10_000;
/** Characters of an error in a sign of life, and of all together. */
const LONGEST_PROBLEM = 1500;
const ALL_PROBLEMS = 4000;

export class ProgramFollower {
  bucket: Bucket = { programs: new Map(), active: NOTHING_ACTIVE, activeRevision: 0 };
  private readonly parts: FollowerParts;
  private readonly loaded = new Map<string, Loaded>();
  /** The choice that was followed last. */
  private followed = '';
  private said = '';
  private refusedAt = -QUIET;
  private dirty = false;
  private busy = false;
  private known = false;
  private settleReady: () => void = () => {};
  /** What is active is loaded and used, or it is known that it cannot be. */
  readonly ready = new Promise<void>((resolve) => {
    this.settleReady = resolve;
  });

  constructor(parts: FollowerParts) {
    this.parts = parts;
  }

  /** Whether it is known what the bucket has. */
  get informed(): boolean {
    return this.known;
  }

  /** The bucket as it is now. */
  update(all: ReadonlyMap<string, StoredEntry>): void {
    const hadActive = this.bucket.activeRevision > 0;
    this.bucket = this.read(all);
    this.known = true;
    if (hadActive && this.bucket.activeRevision === 0)
      this.parts.report('warning', 'Fleet: its programs are gone from the bus; this node keeps what it has');
    this.again();
  }

  /** The bucket cannot be read, or there is none: nobody needs to wait. */
  unreadable(): void {
    this.settleReady();
  }

  /** Looks again: what could not be loaded, and what went away here, is tried again. */
  again(): void {
    this.dirty = true;
    if (this.known && !this.busy) void this.settle();
  }

  /** From time to time: tries again what did not work. */
  tick(): void {
    const chosen = chosenFor(this.parts.node, this.bucket.active);
    const late = Date.now() - AGAIN;
    const failed = [...this.loaded.values()].some(
      ({ problem, triedAt }) => problem !== null && triedAt <= late,
    );
    if (failed || (chosen !== null && JSON.stringify(chosen) !== this.followed)) this.again();
  }

  /** For the sign of life. */
  get figures(): ProgramFigures {
    const { host, node } = this.parts;
    const chosen = chosenFor(node, this.bucket.active);
    const running = host.active();
    let room = ALL_PROBLEMS;
    const programs = [...this.loaded].map(([id, { name, problem }]) => {
      if (problem === null) return { name, id };
      // Characters of one byte, so that all of it has room in a message.
      const shown = problem.slice(0, Math.min(room, LONGEST_PROBLEM)).replace(/[^\t\n\x20-\x7e]/g, '?');
      room -= shown.length;
      return { name, id, problem: shown };
    });
    const using = [...this.loaded].find(([, { local, problem }]) => problem === null && local === running);
    return {
      programs,
      using: using?.[0] ?? null,
      wanted: chosen?.name ?? null,
      own_program: chosen !== null && using?.[0] !== chosen.id,
    };
  }

  private read(all: ReadonlyMap<string, StoredEntry>): Bucket {
    const programs = new Map<string, Stored>();
    for (const key of [...all.keys()].sort()) {
      const name = programOfKey(key);
      if (name === null || programs.size >= MOST_PROGRAMS) continue;
      const { revision, data } = all.get(key) as StoredEntry;
      const before = this.bucket.programs.get(name);
      if (before?.revision === revision) programs.set(name, before);
      else programs.set(name, { revision, bytes: data.length, bundle: this.readOne(name, data) });
    }
    const stored = all.get(ACTIVE);
    if (stored === undefined) return { programs, active: NOTHING_ACTIVE, activeRevision: 0 };
    const active = readActive(stored.data);
    if (active === null) this.refuse('what is stored as the active program is none');
    return { programs, active: active ?? this.bucket.active, activeRevision: stored.revision };
  }

  private readOne(name: string, data: Uint8Array): Bundle | string {
    const bundle = readBundle(name, data);
    if (typeof bundle === 'string') this.refuse(`program ${name} is refused: ${bundle}`);
    return bundle;
  }

  /** A flood of such values does not fill the log: fleet.list has them all. */
  private refuse(text: string): void {
    const now = performance.now();
    if (now - this.refusedAt < QUIET) return;
    this.refusedAt = now;
    this.parts.report('warning', `Fleet: ${text}`);
  }

  private async settle(): Promise<void> {
    this.busy = true;
    while (this.dirty) {
      this.dirty = false;
      const chosen = chosenFor(this.parts.node, this.bucket.active);
      const bundles = [...this.bucket.programs.values()].flatMap(({ bundle }) =>
        typeof bundle === 'string' ? [] : [bundle],
      );
      const first = bundles.find(({ id }) => id === chosen?.id);
      if (first !== undefined) await this.load(first);
      if (chosen !== null) await this.follow(chosen);
      this.settleReady();
      for (const bundle of bundles) if (!this.dirty) await this.load(bundle);
      await this.discard(bundles);
    }
    this.busy = false;
    this.parts.changed();
  }

  private async load(bundle: Bundle): Promise<void> {
    const { host, report, changed } = this.parts;
    const { name, id } = bundle;
    const before = this.loaded.get(id);
    if (before !== undefined) {
      if (before.problem === null ? host.has(before.local) : Date.now() - before.triedAt < AGAIN) return;
    }
    const local = host.has(name) ? `${name}-${id.slice(0, 8)}` : name;
    const problem = await host.load(local, bundle);
    this.loaded.set(id, { name, local, problem, triedAt: Date.now() });
    if (problem === null)
      report('info', `Fleet: loaded ${name} of ${bundle.by}${local === name ? '' : ` as ${local}`}`);
    else if (problem !== before?.problem)
      report('warning', `Fleet: ${name} cannot be loaded here: ${problem}`);
    changed();
  }

  private async follow(chosen: ChosenProgram): Promise<void> {
    const { host, report } = this.parts;
    const choice = JSON.stringify(chosen);
    const loaded = this.loaded.get(chosen.id);
    if (choice === this.followed || loaded?.problem !== null) return;
    const problem = await host.use(loaded.local);
    if (problem === null) {
      this.followed = choice;
      report('info', `Fleet: using ${loaded.local}, chosen on ${chosen.by}`);
    } else if (problem !== this.said)
      report('warning', `Fleet: ${loaded.local} cannot be used here: ${problem}`);
    this.said = problem ?? '';
    this.parts.changed();
  }

  /** What the fleet has no more goes, unless something here still needs it. A bucket that was lost takes nothing along. */
  private async discard(bundles: readonly Bundle[]): Promise<void> {
    const { host } = this.parts;
    if (this.bucket.activeRevision === 0 && this.followed !== '') return;
    for (const [id, { local, problem }] of [...this.loaded]) {
      if (bundles.some((bundle) => bundle.id === id)) continue;
      const gone = problem !== null || !host.has(local) || (await host.discard(local)) === null;
      if (gone) this.loaded.delete(id);
    }
  }
}
