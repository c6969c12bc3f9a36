// The fleet's programs on one node: follows the bucket while the bus is connected, and changes it for operators: stores a
// program, chooses one for all nodes or for some, removes one. Each change is one compare-and-set of a value, followed by a
// wait for the nodes to report.
//
// A program is chosen only if every present node has loaded it, unless forced. An unreadable bucket affects neither traffic
// nor invalidations.

import { type ActivePrograms, type ChosenProgram, writeActive } from './active-program.ts';
import type { Bus, StoreResult } from './bus.ts';
import { ACTIVE, isName, isProgramName, LONGEST_BUNDLE, MOST_PROGRAMS, programKey } from './fleet-names.ts';
import type { ChangeResult, NodeProblem, NodeRow, ProgramRow, UseOptions } from './fleet-rows.ts';
import type { ProgramFigures } from './node-messages.ts';
import { type Bundle, filesOf, makeBundle, readBundle, writeBundle } from './program-bundle.ts';
import { ProgramFollower, type ProgramHost, type Stored } from './program-follower.ts';

export interface ProgramServiceParts {
  readonly bus: Bus;
  readonly host: ProgramHost;
  readonly node: string;
  nodes(): NodeRow[];
  /** Milliseconds that an operator waits for nodes. */
  programTimeout(): number;
  report(level: 'info' | 'warning', text: string): void;
  /** The programs loaded or used here have changed. */
  changed(): void;
}

/** Milliseconds between attempts to read the bucket. */
const RETRY = 500;
/** Between two looks at what nodes say. */
const LOOK = 50;
const NOT_THERE = 'The bus is not there: nothing was changed.';

export class ProgramService {
  private readonly parts: ProgramServiceParts;
  private readonly follower: ProgramFollower;
  private reading: { close(): void } | null = null;
  private running = false;
  private closed = false;

  constructor(parts: ProgramServiceParts) {
    this.parts = parts;
    this.follower = new ProgramFollower(parts);
  }

  /** What is active runs here, or it is known that it cannot. */
  get ready(): Promise<void> {
    return this.follower.ready;
  }

  get figures(): ProgramFigures {
    return this.follower.figures;
  }

  get replaced(): string | null {
    const { own_program, wanted } = this.figures;
    return own_program ? wanted : null;
  }

  /** The bus is there: reads until it is not. */
  async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    const { bus, report } = this.parts;
    const isOn = (): boolean => bus.connected && !this.closed;
    let said = '';
    while (isOn()) {
      let why: string;
      try {
        const reading = await bus.readPrograms((all) => {
          said = '';
          this.follower.update(all);
        });
        this.reading = reading;
        why = await reading.ended;
      } catch (cause) {
        why = (cause as Error).message;
        this.absent();
      }
      if (!isOn()) break;
      if (why !== said) report('warning', `Fleet: cannot read the programs: ${why}; retrying`);
      said = why;
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
    this.running = false;
  }

  /** There is no bus, or no bucket: nobody is to wait for it. */
  absent(): void {
    this.follower.unreadable();
  }

  tick(): void {
    this.follower.tick();
  }

  /** Somebody has changed the programs of this proxy. */
  localChange(): void {
    this.follower.again();
  }

  close(): void {
    this.closed = true;
    this.reading?.close();
    this.absent();
  }

  /** Why no program of this name can be stored; null when it can. */
  refusal(name: string): string | null {
    const { programs } = this.bucket;
    if (!this.isThere) return NOT_THERE;
    if (!isProgramName(name))
      return `"${name}" is not a name of letters, digits, - and _ that begins with a letter, 64 at most`;
    if (programs.has(name))
      return `The fleet has a program named ${name} already: discard it, or take another name`;
    return programs.size >= MOST_PROGRAMS ? `The fleet has ${MOST_PROGRAMS} programs: discard some` : null;
  }

  /** Stores a program.
   * @param compiled the files it was compiled from, the main file first
   * @param path vcl_path */
  async load(
    name: string,
    compiled: readonly { readonly name: string; readonly text: string }[],
    path: string,
  ): Promise<ChangeResult> {
    const { bus, node } = this.parts;
    const bundle = makeBundle(name, path.split(':'), filesOf(compiled), node, Date.now() / 1000);
    const { id } = bundle;
    const refusal = this.refusal(name);
    if (refusal !== null) return failed(refusal);
    const data = writeBundle(bundle);
    if (data.length > LONGEST_BUNDLE)
      return failed(
        `${name} and what it includes have ${data.length} bytes as a message: ${LONGEST_BUNDLE} are the most`,
      );
    // What the nodes would refuse.
    const problem = readBundle(name, data);
    if (typeof problem === 'string') return failed(`${name} cannot be stored: ${problem}`);
    const result = await bus.storeProgram(programKey(name), data, 0);
    if (result.state === 'changed') return failed(`The fleet has a program named ${name} since a moment ago`);
    if (result.state !== 'stored') return failed(notStored(result));
    await this.until(() => this.missing(id, null).every((each) => each.failed));
    return { done: true, text: `Fleet: stored ${name}, ${this.loadedBy(id)}` };
  }

  async use(name: string, { on, force }: UseOptions): Promise<ChangeResult> {
    const { bus, node } = this.parts;
    if (!this.isThere) return failed(NOT_THERE);
    const { active, activeRevision } = this.bucket;
    const bundle = this.bundle(name);
    if (typeof bundle === 'string') return failed(bundle);
    const wrong = (on ?? []).find((wanted) => !isName(wanted));
    if (wrong !== undefined) return failed(`"${wrong}" is not a name of a node`);
    const strangers = (on ?? []).filter((wanted) => !this.takers(null).some((row) => row.node === wanted));
    if (strangers.length > 0 && !force)
      return failed(`Not used: no node of the fleet that takes programs is called ${strangers.join(', ')}`);
    if (!force) {
      await this.until(() => this.missing(bundle.id, on).every((each) => each.failed));
      const missing = this.missing(bundle.id, on);
      if (missing.length > 0)
        return failed(`Not used: ${name} is not loaded everywhere\n${problemLines(missing)}`);
    }
    const chosen = { name, id: bundle.id, by: node, at: Date.now() / 1000 };
    const next: ActivePrograms =
      on === null ? { all: chosen, canary: null } : { all: active.all, canary: { ...chosen, on } };
    const result = await bus.storeProgram(ACTIVE, writeActive(next), activeRevision);
    if (result.state === 'changed') {
      await this.until(() => this.bucket.activeRevision !== activeRevision);
      return failed(`Not used: somebody else has just chosen ${this.latest()}`);
    }
    if (result.state !== 'stored') return failed(notStored(result));
    const late = (): NodeRow[] => this.takers(on).filter((row) => row.using !== bundle.id);
    const isOver = (): boolean => this.bucket.activeRevision > result.revision && !this.isChosen(chosen, on);
    await this.until(
      () => isOver() || late().every((row) => row.state === 'silent' || hasFailed(row, bundle.id)),
    );
    if (isOver()) return failed(`${name} was chosen, and then ${this.latest()}`);
    const nodes = this.takers(on).length;
    return {
      done: true,
      text: `Fleet: ${name} is in use by ${nodes - late().length} of ${count(nodes)}\n${problemLines(late().map((row) => notUsing(row, bundle.id)))}`,
    };
  }

  async discard(name: string): Promise<ChangeResult> {
    const { active, programs } = this.bucket;
    if (!this.isThere) return failed(NOT_THERE);
    const stored = programs.get(name);
    if (stored === undefined) return failed(unknown(name));
    if (active.all?.name === name) return failed(`${name} is what the fleet runs`);
    if (active.canary?.name === name) return failed(`${name} is tried on ${active.canary.on.join(', ')}`);
    const result = await this.parts.bus.storeProgram(programKey(name), null, stored.revision);
    if (result.state === 'changed') return failed(`${name} was changed a moment ago: look at fleet.list`);
    return result.state === 'stored' ? { done: true, text: '' } : failed(notStored(result));
  }

  list(): ProgramRow[] {
    const { programs, active } = this.bucket;
    return [...programs].map(([name, stored]) => this.row(name, stored, active));
  }

  private row(name: string, { bundle, bytes }: Stored, { all, canary }: ActivePrograms): ProgramRow {
    const base = { name, bytes, on: canary?.name === name ? canary.on : null };
    const chosen = all?.name === name ? all : base.on !== null ? canary : null;
    const status = all?.name === name ? 'active' : base.on !== null ? 'canary' : 'available';
    if (typeof bundle === 'string')
      return {
        ...base,
        status,
        id: null,
        by: null,
        at: null,
        files: [],
        loaded: 0,
        nodes: 0,
        missing: [],
        problem: bundle,
      };
    const { id, by, at, files } = bundle;
    const missing = this.missing(id, null).map(({ node, problem }) => ({ node, problem }));
    const nodes = this.takers(null).length;
    const changed = chosen !== null && chosen.id !== id;
    return {
      ...base,
      status,
      id,
      by,
      at,
      files: files.map((file) => ({ name: file.name, sha256: file.sha256 })),
      loaded: nodes - missing.length,
      nodes,
      missing,
      problem: changed ? 'it is not the program that was chosen: it was changed since' : null,
    };
  }

  private get bucket(): ProgramFollower['bucket'] {
    return this.follower.bucket;
  }

  private get isThere(): boolean {
    return this.parts.bus.connected && this.follower.informed;
  }

  private bundle(name: string): Bundle | string {
    const stored = this.bucket.programs.get(name);
    if (stored === undefined) return unknown(name);
    return typeof stored.bundle === 'string' ? `${name} is refused: ${stored.bundle}` : stored.bundle;
  }

  private isChosen({ at, id }: ChosenProgram, on: readonly string[] | null): boolean {
    const { active } = this.bucket;
    const now = on === null ? active.all : active.canary;
    return now?.id === id && now.at === at;
  }

  private latest(): string {
    const { active } = this.bucket;
    const { name, by } = active.canary ?? active.all ?? { name: 'another', by: 'another node' };
    return `${name}, on ${by}`;
  }

  /** Nodes that take programs, those of `on` or all. */
  private takers(on: readonly string[] | null): NodeRow[] {
    return this.parts
      .nodes()
      .filter((row) => row.accept !== 'invalidate' && (on === null || on.includes(row.node)));
  }

  /** Nodes that have not loaded it. */
  private missing(id: string, on: readonly string[] | null): NodeProblem[] {
    return this.takers(on).flatMap((row) => {
      const loaded = row.programs?.find((program) => program.id === id);
      if (loaded !== undefined && loaded.problem === undefined) return [];
      const problem = loaded?.problem ?? whyNot(row);
      return [{ node: row.node, problem, failed: loaded?.problem !== undefined }];
    });
  }

  private loadedBy(id: string): string {
    const missing = this.missing(id, null);
    const nodes = this.takers(null).length;
    return `loaded by ${nodes - missing.length} of ${count(nodes)}\n${problemLines(missing)}`;
  }

  private async until(done: () => boolean): Promise<void> {
    const end = performance.now() + this.parts.programTimeout();
    while (!done() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
}

function failed(text: string): ChangeResult {
  return { done: false, text };
}

function unknown(name: string): string {
  return `The fleet has no program named ${name}`;
}

function count(nodes: number): string {
  return `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
}

function notStored({ state, detail }: Extract<StoreResult, { detail: string }>): string {
  return state === 'refused'
    ? `Nothing was changed: ${detail}`
    : `Nobody knows whether it was stored: ${detail}; look at fleet.list`;
}

function whyNot({ state, seen, programs }: NodeRow): string {
  if (state === 'silent') return `no sign of life for ${Math.round(seen)} s`;
  return programs === undefined ? 'it says nothing of programs: its version may know none' : 'not loaded yet';
}

function hasFailed({ programs }: NodeRow, id: string): boolean {
  return programs?.some((program) => program.id === id && program.problem !== undefined) === true;
}

function notUsing(row: NodeRow, id: string): NodeProblem {
  const failed = hasFailed(row, id);
  const problem = row.state === 'silent' ? whyNot(row) : failed ? 'it could not be loaded' : 'not yet';
  return { node: row.node, problem, failed };
}

function problemLines(missing: readonly NodeProblem[]): string {
  return missing.map(({ node, problem }) => `${node}: ${problem.trimEnd()}\n`).join('');
}
