// Applies the fleet's choice on this node: loads the stored programs, the active one first, and switches when another
// is chosen. A program that cannot be loaded is retried, and blocks its choice for the fleet.
//
// A node switches once per choice: an operator who uses another program here (vcl.use) keeps it until the next one. If
// the bucket is lost, or a value in it is malformed, nothing changes.

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

/** The local programs; a string is an error. */
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
  /** The programs loaded or used here have changed. */
  changed(): void;
}

/** Contents of the bucket. */
export interface Bucket {
  /** By name; a string is the reason why a value is refused. */
  readonly programs: ReadonlyMap<string, Stored>;
  readonly active: ActivePrograms;
  /** 0 if nothing has been chosen yet. */
  readonly activeRevision: number;
}

export interface Stored {
  readonly revision: number;
  readonly bytes: number;
  readonly bundle: Bundle | string;
}

/** A program of the fleet as loaded here, by the id of its bundle. */
interface Loaded {
  readonly name: string;
  /** Its local name, which differs if the name is taken. */
  readonly local: string;
  /** Why it is not loaded; null if it is. */
  readonly problem: string | null;
  readonly triedAt: number;
}

/** Milliseconds until a program that could not be loaded is retried (chosen). */
const RETRY = 10_000;
/** Milliseconds between two refusals in the log (chosen). */
const REPORT_INTERVAL = 10_000;
/** Characters of one error in a heartbeat, and of all errors together. */
const LONGEST_PROBLEM = 1500;
const ALL_PROBLEMS = 4000;

export class ProgramFollower {
  bucket: Bucket = { programs: new Map(), active: NOTHING_ACTIVE, activeRevision: 0 };
  private readonly parts: FollowerParts;
  private readonly loaded = new Map<string, Loaded>();
  /** The last choice that was applied. */
  private followed = '';
  private lastProblem = '';
  private refusedAt = -REPORT_INTERVAL;
  private dirty = false;
  private busy = false;
  private known = false;
  private settleReady: () => void = () => {};
  /** Resolves when the active program is loaded and used, or is known to fail. */
  readonly ready = new Promise<void>((resolve) => {
    this.settleReady = resolve;
  });

  constructor(parts: FollowerParts) {
    this.parts = parts;
  }

  /** Whether the contents of the bucket are known. */
  get informed(): boolean {
    return this.known;
  }

  /** The present contents of the bucket. */
  update(all: ReadonlyMap<string, StoredEntry>): void {
    const hadActive = this.bucket.activeRevision > 0;
    this.bucket = this.read(all);
    this.known = true;
    if (hadActive && this.bucket.activeRevision === 0)
      this.parts.report('warning', 'Fleet: the programs are gone from the bus; this node keeps its own');
    this.again();
  }

  /** The bucket cannot be read or does not exist: nobody should wait for it. */
  unreadable(): void {
    this.settleReady();
  }

  /** Compares again: retries failed programs, and loads programs that were discarded locally. */
  again(): void {
    this.dirty = true;
    if (this.known && !this.busy) void this.settle();
  }

  /** Periodic check that retries failures. */
  tick(): void {
    const chosen = chosenFor(this.parts.node, this.bucket.active);
    const late = Date.now() - RETRY;
    const failed = [...this.loaded.values()].some(
      ({ problem, triedAt }) => problem !== null && triedAt <= late,
    );
    if (failed || (chosen !== null && JSON.stringify(chosen) !== this.followed)) this.again();
  }

  /** For the heartbeat. */
  get figures(): ProgramFigures {
    const { host, node } = this.parts;
    const chosen = chosenFor(node, this.bucket.active);
    const running = host.active();
    let room = ALL_PROBLEMS;
    const programs = [...this.loaded].map(([id, { name, problem }]) => {
      if (problem === null) return { name, id };
      // Single-byte characters, so that the total size is known.
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
    if (active === null) this.refuse('the stored active program is malformed');
    return { programs, active: active ?? this.bucket.active, activeRevision: stored.revision };
  }

  private readOne(name: string, data: Uint8Array): Bundle | string {
    const bundle = readBundle(name, data);
    if (typeof bundle === 'string') this.refuse(`program ${name} is refused: ${bundle}`);
    return bundle;
  }

  /** Rate limited: fleet.list shows all of them. */
  private refuse(text: string): void {
    const now = performance.now();
    if (now - this.refusedAt < REPORT_INTERVAL) return;
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
      if (before.problem === null ? host.has(before.local) : Date.now() - before.triedAt < RETRY) return;
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
    } else if (problem !== this.lastProblem)
      report('warning', `Fleet: ${loaded.local} cannot be used here: ${problem}`);
    this.lastProblem = problem ?? '';
    this.parts.changed();
  }

  /** Discards programs that the fleet has removed, unless they are still needed here. A lost bucket discards
   * nothing. */
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
