// The programs a worker has loaded: which one new requests begin with, who still runs the others, and their
// backends. A discarded program goes when its last transaction has ended, never before.

import type { Backend, BackendEnvironment } from '../backend/backend.ts';
import { buildBackends } from '../backend/directory.ts';
import type { LoadedProgram, ProgramState } from '../link.ts';
import type { ProgramRef } from '../request/core.ts';
import { VbeCounters } from '../stats/counters.ts';
import { type Director, VclContext } from '../vcl/context.ts';
import { finiProgram, initProgram, loadProgram, programEvent } from '../vcl/loader.ts';
import type { VclProgram } from '../vcl/program.ts';
import type { Worker } from './worker.ts';

export interface ProgramEntry extends ProgramRef {
  readonly backends: ReadonlyMap<string, Backend>;
  state: ProgramState;
  discarded: boolean;
}

export class ProgramTable {
  active: ProgramEntry | null = null;
  private readonly worker: Worker;
  private readonly entries = new Map<string, ProgramEntry>();
  /** Discarded programs that still run. */
  private leaving: ProgramEntry[] = [];

  constructor(worker: Worker) {
    this.worker = worker;
  }

  /** Null, or why the program cannot run here; nothing of it remains then. */
  async load(load: LoadedProgram): Promise<string | null> {
    const { worker } = this;
    const compiled = load.program;
    const env: BackendEnvironment = {
      pool: worker.pool,
      readBuffer: worker.readBuffer,
      stats: worker.stats,
      get limits() {
        return worker.responseLimits;
      },
      params: worker.params,
    };
    const counters = new Map<string, VbeCounters>();
    const built = await buildBackends(
      load.name,
      compiled.backends,
      env,
      (name) => {
        const made = new VbeCounters();
        counters.set(name, made);
        return made;
      },
      worker.clock.now(),
    );
    if (built.problems.length > 0) return built.problems.join('\n');
    let program: VclProgram;
    try {
      program = loadProgram(load.name, compiled, new Map<string, Director>(built.backends));
    } catch (error) {
      return (error as Error).message;
    }
    const problem = this.start(program, load.state);
    if (problem !== null) {
      finiProgram(program, this.cliContext(program));
      return problem;
    }
    for (const backend of built.backends.values()) {
      if (backend.decl.none !== true)
        worker.countersFile.addBackend(load.name, backend.vclName, backend.counters);
    }
    const entry: ProgramEntry = {
      name: load.name,
      program,
      refs: 0,
      rollsBack: /rollback/.test(compiled.source),
      backends: built.backends,
      state: load.state,
      discarded: false,
    };
    this.entries.set(load.name, entry);
    this.count();
    return null;
  }

  use(name: string): boolean {
    const entry = this.entries.get(name);
    if (entry === undefined) return false;
    this.active = entry;
    return true;
  }

  find(name: string): ProgramEntry | null {
    return this.entries.get(name) ?? null;
  }

  discard(name: string): void {
    const entry = this.entries.get(name);
    if (entry === undefined) return;
    this.entries.delete(name);
    entry.discarded = true;
    this.leaving.push(entry);
    this.sweep();
    this.count();
  }

  setState(name: string, state: ProgramState): void {
    const entry = this.entries.get(name);
    if (entry === undefined) return;
    const cold = entry.state === 'cold';
    entry.state = state;
    if (cold !== (state === 'cold')) {
      programEvent(entry.program, cold ? 'warm' : 'cold', this.cliContext(entry.program));
    }
  }

  /** Transactions by program, as vcl.list shows them. */
  refs(): Record<string, number> {
    return Object.fromEntries([...this.entries.values()].map((e) => [e.name, e.refs]));
  }

  /** Every backend of every program, with its program. */
  *backends(): Iterable<Backend> {
    for (const entry of this.entries.values()) yield* entry.backends.values();
  }

  /** Lets go of discarded programs that nobody runs any more. */
  sweep(): void {
    if (this.leaving.length === 0) return;
    const still: ProgramEntry[] = [];
    for (const entry of this.leaving) {
      if (entry.refs > 0) still.push(entry);
      else this.unload(entry);
    }
    this.leaving = still;
  }

  close(): void {
    for (const entry of this.entries.values()) this.unload(entry);
    this.entries.clear();
  }

  /** vcl_init and the events around it: null, or why the program cannot be used. */
  private start(program: VclProgram, state: ProgramState): string | null {
    const problem = initProgram(program, this.cliContext(program));
    if (problem !== null || state === 'cold') return problem;
    return programEvent(program, 'warm', this.cliContext(program));
  }

  private unload(entry: ProgramEntry): void {
    if (entry.state !== 'cold') programEvent(entry.program, 'cold', this.cliContext(entry.program));
    finiProgram(entry.program, this.cliContext(entry.program));
    for (const backend of entry.backends.values()) this.worker.countersFile.removeBackend(backend.counters);
  }

  private cliContext(program: VclProgram): VclContext {
    const log = this.worker.newLog();
    log.begin(0, '-');
    const ctx = new VclContext(this.worker.host, program, log);
    ctx.now = this.worker.clock.now();
    return ctx;
  }

  private count(): void {
    const { stats } = this.worker;
    stats.n_vcl = this.entries.size + this.leaving.length;
    stats.n_vcl_avail = this.entries.size;
    stats.n_vcl_discard = this.leaving.length;
    let backends = 0;
    for (const entry of this.entries.values()) backends += entry.backends.size;
    stats.n_backend = backends;
  }
}
