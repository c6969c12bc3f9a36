// One loaded program in the worker: its backends, its temperature and its end. A warm program probes its backends and
// publishes their counters; a cold one keeps only what it needs to become warm again. Nothing is taken from a program
// while a transaction runs it: until then it is `busy`.
//
// A program may have thousands of backends, so work on all of them is spread over as many turns as it takes. Only the
// load or warm-up itself waits for it; calls in between see the temperature that the program is changing to.

import type { Backend } from '../backend/backend.ts';
import type { BackendEnvironment } from '../backend/backend-surroundings.ts';
import { buildBackends } from '../backend/directory.ts';
import { RunTimeBackends } from '../backend/run-time-backends.ts';
import type { BackendRow } from '../backend/shared-backends.ts';
import {
  type Director,
  VclContext,
  type VclHost,
  type VclLog,
  type VclProgram,
} from '../contract/context.ts';
import { ExtensionError } from '../contract/failure.ts';
import type { ModuleCache } from '../extensions/load/module-cache.ts';
import { filterClash } from '../filters/filter-table.ts';
import type { LoadedProgram, ProgramState, ProgramStatus } from '../link.ts';
import type { TxLog } from '../log/tx-log.ts';
import { type MainCounters, newVbeCounters, type VbeCounters } from '../stats/counter-fields.ts';
import type { ProgramRef } from '../transaction/core.ts';
import type { Turns } from '../turns/turns.ts';
import { finiProgram, initSteps, loadSteps, programEvent } from '../vcl/loader.ts';
import type { BackendThreads, ProgramIdentity } from './backend-threads.ts';

const UNWANTED = 'It was discarded while it was loaded';

/** The services of the worker that programs use. */
export interface ProgramServices {
  readonly clock: { now(): number };
  readonly host: VclHost;
  readonly stats: MainCounters;
  readonly backendEnvironment: BackendEnvironment;
  /** Null with one thread. */
  readonly backendThreads: BackendThreads | null;
  /** Publishes the counters of warm programs' backends. */
  readonly countersFile: {
    addBackend(program: string, backend: string, counters: VbeCounters): void;
    removeBackend(counters: VbeCounters): void;
  };
  newLog(): TxLog;
  readonly turns: Turns;
}

/** A load in progress. */
export interface Loading {
  /** False when the program was discarded meanwhile. */
  isWanted: boolean;
  /** Set as soon as the entry exists. */
  entry: ProgramEntry | null;
}

/** A label: a name for a program, which may be moved to another one. */
export interface LabelEntry {
  readonly name: string;
  target: ProgramEntry;
}

export class ProgramEntry implements ProgramRef, ProgramIdentity {
  readonly name: string;
  readonly loading: number;
  readonly program: VclProgram;
  readonly keepsRequest: boolean;
  readonly keepsFetch: boolean;
  readonly plainHit: boolean;
  readonly plainDeliver: boolean;
  readonly plainHash: boolean;
  readonly labels: ReadonlyMap<string, LabelEntry>;
  readonly backends: ReadonlyMap<string, Backend>;
  refs = 0;
  state: ProgramState;
  temperature: ProgramStatus['temperature'] = 'cold';
  discarded = false;
  private readonly services: ProgramServices;
  private readonly runTime: RunTimeBackends;
  /** Changes with every change of temperature; the remaining steps of an earlier change are dropped. */
  private change = 0;
  /** Steps of cooling and ending that still run. */
  private pendingSteps: Generator<void, void> | null = null;
  private ended = false;

  private constructor(
    services: ProgramServices,
    load: LoadedProgram,
    program: VclProgram,
    backends: Map<string, Backend>,
    labels: ReadonlyMap<string, LabelEntry>,
  ) {
    const { facts, keeps } = load.program;
    this.services = services;
    this.name = load.name;
    this.loading = load.loading ?? 0;
    this.state = load.state;
    this.program = program;
    this.backends = backends;
    this.labels = labels;
    // The program behind a label starts with the request as received.
    this.keepsRequest = labels.size > 0 || keeps.request;
    this.keepsFetch = keeps.fetch;
    this.runTime = this.runTimeBackends(backends);
    program.makeBackend = (decl, lasting) => this.runTime.at(decl, lasting);
    this.plainHit = facts.vcl_hit?.builtinOnly === true;
    this.plainHash = facts.vcl_hash?.builtinOnly === true;
    this.plainDeliver = facts.vcl_deliver?.builtinOnly === true;
  }

  /** Loads a program; a string is the reason why it cannot run here, and then nothing of it remains. */
  static async load(
    services: ProgramServices,
    load: LoadedProgram,
    labels: ReadonlyMap<string, LabelEntry>,
    modules: ModuleCache,
    loading: Loading,
  ): Promise<ProgramEntry | string> {
    const { backendThreads: threads } = services;
    const identity = { name: load.name, loading: load.loading ?? 0 };
    const built = await buildBackends(
      load.name,
      load.program.backends,
      services.backendEnvironment,
      () => newVbeCounters(),
      services.clock.now(),
      (name) => threads?.join(identity, name) ?? null,
      services.turns,
      load.program.pem,
    );
    const refuse = async (problem: string): Promise<string> => {
      await services.turns.over(built.backends.values(), (backend) => backend.end());
      return problem;
    };
    if (!loading.isWanted) return refuse(UNWANTED);
    if (built.problems.length > 0) return refuse(built.problems.join('\n\t'));
    let program: VclProgram | undefined;
    try {
      const extensions = await modules.lookup(load.program.modules);
      const directors = new Map<string, Director>(built.backends);
      program = await services.turns.through(
        loadSteps(load.name, load.program, directors, extensions),
        () => loading.isWanted,
      );
    } catch (error) {
      return refuse((error as Error).message);
    }
    if (program === undefined) return refuse(UNWANTED);
    const clash = filterClash(program.extensions);
    if (clash !== null) return refuse(clash);
    const entry = new ProgramEntry(services, load, program, new Map(built.backends), labels);
    loading.entry = entry;
    const problem = await services.turns.through(
      entry.beginSteps(load.warm !== false),
      () => loading.isWanted,
    );
    if (problem === null && loading.isWanted) return entry;
    await entry.end();
    return problem ?? UNWANTED;
  }

  /** Makes the program warm. Returns null, or why it cannot be. */
  async warm(): Promise<string | null> {
    if (this.temperature === 'busy') this.temperature = 'warm';
    if (this.temperature === 'warm') return null;
    return (await this.services.turns.through(this.warmSteps())) ?? null;
  }

  /** Makes the program cold, or busy until its last transaction ends. */
  cool(): void {
    if (this.temperature === 'warm') this.temperature = 'busy';
    this.settle();
  }

  /** Makes a busy program cold once no transaction runs it; returns false while it stays busy. */
  settle(): boolean {
    if (this.temperature === 'busy' && this.refs <= 0) this.becomeCold();
    return this.temperature !== 'busy';
  }

  /** Ends a program that no transaction runs; resolves when all of it is released. */
  async end(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    if (this.temperature !== 'cold') this.becomeCold();
    await this.runSteps(this.endSteps());
  }

  /** Ends it synchronously. */
  endAtOnce(): void {
    void this.end();
    this.finishSteps();
  }

  /** Called in the first thread: another thread uses this run-time backend. */
  backendKept(key: string): void {
    if (this.temperature === 'cold') return;
    try {
      this.runTime.at(JSON.parse(key), false);
    } catch (error) {
      // No room here, while the other thread has it: this one would only have probed it.
      if (!(error instanceof ExtensionError)) throw error;
    }
  }

  private *beginSteps(warm: boolean): Generator<void, string | null> {
    const refusal = yield* initSteps(this.program, this.context());
    return refusal !== null || !warm ? refusal : yield* this.warmSteps();
  }

  private *warmSteps(): Generator<void, string | null> {
    this.finishSteps();
    const refusal = programEvent(this.program, 'warm', this.context());
    if (refusal !== null) {
      // Some extensions may have accepted before one refused.
      programEvent(this.program, 'cold', this.context());
      return refusal;
    }
    this.temperature = 'warm';
    const change = ++this.change;
    this.prepareLater(0);
    // Backends and directors made from now on become warm by themselves.
    const directors = [...this.program.directors];
    const backends = [...this.backends];
    for (const [name, director] of directors) {
      if (this.program.directors.get(name) === director) director.setWarm(true);
      yield;
      if (this.change !== change) return null;
    }
    for (const [name, backend] of backends) {
      if (backend.decl.none !== true && this.backends.get(name) === backend)
        this.services.countersFile.addBackend(this.name, backend.vclName, backend.counters);
      yield;
      if (this.change !== change) return null;
    }
    return null;
  }

  /** Prepares regular expressions starting with one, a few in a turn: otherwise the first request would wait for all
   * that it uses, at 35 to 60 microseconds each. */
  private prepareLater(from: number): void {
    const { turns } = this.services;
    const { regexes } = this.program;
    if (from >= regexes.length) return;
    turns.later(() => {
      // A program that is warmed again starts over, and finds some of them prepared.
      if (this.temperature === 'cold') return;
      let next = from;
      do this.prepare(next++);
      while (next < regexes.length && turns.mayContinue());
      this.prepareLater(next);
    });
  }

  private prepare(i: number): void {
    try {
      this.program.regexes[i]?.prepare();
    } catch {
      // The task that uses it first reports the error.
    }
  }

  private becomeCold(): void {
    this.temperature = 'cold';
    this.change++;
    void this.runSteps(this.coolSteps());
  }

  private *coolSteps(): Generator<void, void> {
    for (const director of [...this.program.directors.values()]) {
      director.setWarm(false);
      yield;
    }
    for (const backend of [...this.backends.values()]) {
      this.services.countersFile.removeBackend(backend.counters);
      yield;
    }
    programEvent(this.program, 'cold', this.context());
  }

  private *endSteps(): Generator<void, void> {
    finiProgram(this.program, this.context());
    this.runTime.close();
    for (const backend of [...this.backends.values()]) {
      backend.end();
      yield;
    }
  }

  /** Runs these steps after those in progress. */
  private async runSteps(steps: Generator<void, void>): Promise<void> {
    const before = this.pendingSteps;
    const all = (function* (): Generator<void, void> {
      if (before !== null) yield* before;
      yield* steps;
    })();
    this.pendingSteps = all;
    await this.services.turns.through(all, () => this.pendingSteps === all);
    if (this.pendingSteps === all) this.pendingSteps = null;
  }

  /** Runs the remaining steps synchronously. */
  private finishSteps(): void {
    while (this.pendingSteps?.next().done === false);
    this.pendingSteps = null;
  }

  private runTimeBackends(backends: Map<string, Backend>): RunTimeBackends {
    const { name, services } = this;
    const { directors } = this.program;
    const made = (backend: Backend): void => {
      services.stats.n_backend++;
      if (this.temperature === 'cold') return;
      backend.setWarm(true);
      services.countersFile.addBackend(name, backend.vclName, backend.counters);
    };
    const gone = (backend: Backend): void => {
      services.stats.n_backend--;
      services.countersFile.removeBackend(backend.counters);
    };
    const { backendThreads: threads } = services;
    const rowOf = (key: string, of: string): BackendRow | null => threads?.join(this, key, of) ?? null;
    const kept = (key: string): void => threads?.kept(this, key);
    const owner = { name, directors, backends, made, gone, rowOf, kept };
    return new RunTimeBackends(owner, services.backendEnvironment);
  }

  /** The context for subroutines that run for no request. */
  private context(): VclContext {
    const { services } = this;
    const log = services.newLog();
    log.begin(0, '-');
    // As in Varnish: records of such a subroutine are logged, its call and return are not.
    const quiet: VclLog = {
      put: (tag, text) => log.put(tag, text),
      putUnmasked: (tag, text) => log.putUnmasked(tag, text),
      putFor: (vxid, side, tag, text) => log.putFor(vxid, side, tag, text),
      putBytes: (tag, src, start, end) => log.putBytes(tag, src, start, end),
      putConstant: () => undefined,
      timestamp: () => undefined,
      wants: (tag) => log.wants(tag),
    };
    const ctx = new VclContext(services.host, this.program, quiet);
    ctx.now = services.clock.now();
    return ctx;
  }
}
