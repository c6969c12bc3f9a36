// What operators do with a fleet's programs: store one, choose one for all nodes or for some, take one away. Each is a change
// of one value that is made only if nobody else was faster; then it waits for the nodes to say how they do.
//
// A program is chosen only when every node that is there has loaded it, unless it is forced.

import { type ActivePrograms, type ChosenProgram, writeActive } from './active-program.ts';
import type { Bus, StoreResult } from './bus.ts';
import { ACTIVE, isName, isProgramName, LONGEST_BUNDLE, MOST_PROGRAMS, programKey } from './fleet-names.ts';
import type { DeskReply, NodeProblem, NodeRow, ProgramRow, UseWish } from './fleet-overview.ts';
import { type Bundle, readBundle, writeBundle } from './program-bundle.ts';
import type { ProgramFollower, Stored } from './program-follower.ts';

export interface DeskParts {
  readonly bus: Bus;
  readonly follower: ProgramFollower;
  readonly node: string;
  /** This one and all others. */
  nodes(): NodeRow[];
  /** Milliseconds that nodes are waited for. */
  patience(): number;
}

/** Between two looks at what nodes say. */
const LOOK = 50;
const NOT_THERE = 'The bus is not there: nothing was changed.';

export class ProgramDesk {
  private readonly parts: DeskParts;

  constructor(parts: DeskParts) {
    this.parts = parts;
  }

  /** Why no program of this name can be stored; null when it can. */
  refusal(name: string): string | null {
    const { programs } = this.shelf;
    if (!this.isThere) return NOT_THERE;
    if (!isProgramName(name))
      return `"${name}" is not a name of letters, digits, - and _ that begins with a letter, 64 at most`;
    if (programs.has(name))
      return `The fleet has a program named ${name} already: discard it, or take another name`;
    return programs.size >= MOST_PROGRAMS ? `The fleet has ${MOST_PROGRAMS} programs: discard some` : null;
  }

  async load(bundle: Bundle): Promise<DeskReply> {
    const { bus } = this.parts;
    const { name, id } = bundle;
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

  async use(name: string, { on, force }: UseWish): Promise<DeskReply> {
    const { bus, node } = this.parts;
    if (!this.isThere) return failed(NOT_THERE);
    const { active, activeRevision } = this.shelf;
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
      await this.until(() => this.shelf.activeRevision !== activeRevision);
      return failed(`Not used: somebody else has just chosen ${this.latest()}`);
    }
    if (result.state !== 'stored') return failed(notStored(result));
    const late = (): NodeRow[] => this.takers(on).filter((row) => row.using !== bundle.id);
    const isOver = (): boolean => this.shelf.activeRevision > result.revision && !this.isChosen(chosen, on);
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

  async discard(name: string): Promise<DeskReply> {
    const { active, programs } = this.shelf;
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
    const { programs, active } = this.shelf;
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

  private get shelf(): ProgramFollower['shelf'] {
    return this.parts.follower.shelf;
  }

  private get isThere(): boolean {
    return this.parts.bus.connected && this.parts.follower.informed;
  }

  private bundle(name: string): Bundle | string {
    const stored = this.shelf.programs.get(name);
    if (stored === undefined) return unknown(name);
    return typeof stored.bundle === 'string' ? `${name} is refused: ${stored.bundle}` : stored.bundle;
  }

  private isChosen({ at, id }: ChosenProgram, on: readonly string[] | null): boolean {
    const { active } = this.shelf;
    const now = on === null ? active.all : active.canary;
    return now?.id === id && now.at === at;
  }

  private latest(): string {
    const { active } = this.shelf;
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
    const end = performance.now() + this.parts.patience();
    while (!done() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
}

function failed(text: string): DeskReply {
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
