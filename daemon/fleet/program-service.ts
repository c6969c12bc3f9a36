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
/** Milliseconds between checks of the nodes' reports. */
const POLL = 50;
const NO_BUS = 'The bus is not connected: nothing was changed.';

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

  /** Resolves when the active program is used here, or is known to fail. */
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

  /** Reads while the bus is connected. */
  async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    const { bus, report } = this.parts;
    const isOn = (): boolean => bus.connected && !this.closed;
    let reported = '';
    while (isOn()) {
      let why: string;
      try {
        const reading = await bus.readBucket('programs', (all) => {
          reported = '';
          this.follower.update(all);
        });
        this.reading = reading;
        why = await reading.ended;
      } catch (cause) {
        why = (cause as Error).message;
        this.absent();
      }
      if (!isOn()) break;
      if (why !== reported) report('warning', `Fleet: cannot read the programs: ${why}; retrying`);
      reported = why;
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
    this.running = false;
  }

  /** There is no bus or no bucket: nobody should wait for it. */
  absent(): void {
    this.follower.unreadable();
  }

  tick(): void {
    this.follower.tick();
  }

  /** The local programs have changed. */
  localChange(): void {
    this.follower.again();
  }

  close(): void {
    this.closed = true;
    this.reading?.close();
    this.absent();
  }

  /** Why no program of this name can be stored; null if it can. */
  refusal(name: string): string | null {
    const { programs } = this.bucket;
    if (!this.isConnected) return NO_BUS;
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
        `${name} and what it includes take ${data.length} bytes as a message: the maximum is ${LONGEST_BUNDLE}`,
      );
    // Validates as the nodes will.
    const problem = readBundle(name, data);
    if (typeof problem === 'string') return failed(`${name} cannot be stored: ${problem}`);
    const result = await bus.storeEntry('programs', programKey(name), data, 0);
    if (result.state === 'changed') return failed(`A program named ${name} was stored a moment ago`);
    if (result.state !== 'stored') return failed(notStored(result));
    await this.until(() => this.missing(id, null).every((each) => each.failed));
    return { done: true, text: `Fleet: stored ${name}, ${this.loadedBy(id)}` };
  }

  async use(name: string, { on, force }: UseOptions): Promise<ChangeResult> {
    const { bus, node } = this.parts;
    if (!this.isConnected) return failed(NO_BUS);
    const { active, activeRevision } = this.bucket;
    const bundle = this.bundle(name);
    if (typeof bundle === 'string') return failed(bundle);
    const wrong = (on ?? []).find((wanted) => !isName(wanted));
    if (wrong !== undefined) return failed(`"${wrong}" is not a name of a node`);
    const unknownNodes = (on ?? []).filter(
      (wanted) => !this.acceptingNodes(null).some((row) => row.node === wanted),
    );
    if (unknownNodes.length > 0 && !force)
      return failed(
        `Not used: no node of the fleet that takes programs is called ${unknownNodes.join(', ')}`,
      );
    if (!force) {
      await this.until(() => this.missing(bundle.id, on).every((each) => each.failed));
      const missing = this.missing(bundle.id, on);
      if (missing.length > 0)
        return failed(`Not used: ${name} is not loaded everywhere\n${problemLines(missing)}`);
    }
    const chosen = { name, id: bundle.id, by: node, at: Date.now() / 1000 };
    const next: ActivePrograms =
      on === null ? { all: chosen, canary: null } : { all: active.all, canary: { ...chosen, on } };
    const result = await bus.storeEntry('programs', ACTIVE, writeActive(next), activeRevision);
    if (result.state === 'changed') {
      await this.until(() => this.bucket.activeRevision !== activeRevision);
      return failed(`Not used: another operator has just chosen ${this.latest()}`);
    }
    if (result.state !== 'stored') return failed(notStored(result));
    const late = (): NodeRow[] => this.acceptingNodes(on).filter((row) => row.using !== bundle.id);
    const isOver = (): boolean => this.bucket.activeRevision > result.revision && !this.isChosen(chosen, on);
    await this.until(
      () => isOver() || late().every((row) => row.state === 'silent' || hasFailed(row, bundle.id)),
    );
    if (isOver()) return failed(`${name} was chosen, and then ${this.latest()}`);
    const nodes = this.acceptingNodes(on).length;
    return {
      done: true,
      text: `Fleet: ${name} is in use by ${nodes - late().length} of ${count(nodes)}\n${problemLines(late().map((row) => notUsing(row, bundle.id)))}`,
    };
  }

  async discard(name: string): Promise<ChangeResult> {
    const { active, programs } = this.bucket;
    if (!this.isConnected) return failed(NO_BUS);
    const stored = programs.get(name);
    if (stored === undefined) return failed(unknown(name));
    if (active.all?.name === name) return failed(`${name} is the active program of the fleet`);
    if (active.canary?.name === name)
      return failed(`${name} is the canary on ${active.canary.on.join(', ')}`);
    const result = await this.parts.bus.storeEntry('programs', programKey(name), null, stored.revision);
    if (result.state === 'changed') return failed(`${name} was changed a moment ago: see fleet.list`);
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
    const nodes = this.acceptingNodes(null).length;
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

  private get isConnected(): boolean {
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

  /** Nodes that accept programs, those of `on` or all. */
  private acceptingNodes(on: readonly string[] | null): NodeRow[] {
    return this.parts
      .nodes()
      .filter((row) => row.accept !== 'invalidate' && (on === null || on.includes(row.node)));
  }

  /** Nodes that have not loaded it. */
  private missing(id: string, on: readonly string[] | null): NodeProblem[] {
    return this.acceptingNodes(on).flatMap((row) => {
      const loaded = row.programs?.find((program) => program.id === id);
      if (loaded !== undefined && loaded.problem === undefined) return [];
      const problem = loaded?.problem ?? whyNot(row);
      return [{ node: row.node, problem, failed: loaded?.problem !== undefined }];
    });
  }

  private loadedBy(id: string): string {
    const missing = this.missing(id, null);
    const nodes = this.acceptingNodes(null).length;
    return `loaded by ${nodes - missing.length} of ${count(nodes)}\n${problemLines(missing)}`;
  }

  private async until(done: () => boolean): Promise<void> {
    const end = performance.now() + this.parts.programTimeout();
    while (!done() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, POLL));
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
    : `It may or may not be stored: ${detail}; see fleet.list`;
}

function whyNot({ state, seen, programs }: NodeRow): string {
  if (state === 'silent') return `no heartbeat for ${Math.round(seen)} s`;
  return programs === undefined
    ? 'it reports no programs: its version may not support them'
    : 'not loaded yet';
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
