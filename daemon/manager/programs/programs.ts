// The loaded VCL programs and labels: names, states, the active one, and when unused ones cool down.
//
// Compiles in the manager and passes the result to the worker; a program is entered here only after the worker has
// accepted it, so that a failure leaves no trace. Errors carry their CLI status. Note: programs can be loaded and used while
// no worker runs, and a worker may die at any time; the next one gets all of them as they are here. Changes are serialized.

import { CLI } from '../../../protocol/errors.ts';
import type { CommandReply } from '../../../protocol/messages.ts';
import { STATE } from '../../../protocol/tables/commands.ts';
import { matchesGlob } from '../../../queries/fnmatch.ts';
import { wordProblem } from '../../commands/read-command.ts';
import { bad, cannot, ok } from '../../commands/reply.ts';
import type { CompiledProgram } from '../../contract/program.ts';
import type { LoadedProgram, ProgramLabel, ProgramState } from '../../link.ts';
import type { Params } from '../../params/parameter-set.ts';
import type { Supervisor } from '../process/supervisor.ts';
import type { Compile, Compiled, SourceText } from './compile-job.ts';
import {
  type Entry,
  labelsOf,
  leavingOrder,
  loadingOrder,
  loopText,
  needs,
  type Program,
  stillNeeded,
} from './program-graph.ts';
import {
  type Dependencies,
  illegalName,
  type ProgramInfo,
  programList,
  readStatuses,
} from './program-list.ts';

/** The programs of a worker. */
export interface WorkerPrograms {
  programs: LoadedProgram[];
  labels: ProgramLabel[];
  order: string[];
  active: string;
}

export class Programs {
  private readonly entries = new Map<string, Entry>();
  private active: Entry | null = null;
  private readonly compile: Compile;
  private readonly worker: Pick<Supervisor, 'state' | 'call' | 'settled'>;
  private readonly params: Pick<Params, 'num'>;
  private queue: Promise<unknown> = Promise.resolve();
  private cooling: NodeJS.Timeout | null = null;
  /** Pending while a worker has received its programs but does not serve yet: it would miss a change. */
  private workerStarting: Promise<void> = Promise.resolve();
  /** Which backends have a probe, by the program's list of backends. */
  private readonly probed = new WeakMap<object, ReadonlyMap<string, boolean>>();

  constructor(
    compile: Compile,
    worker: Pick<Supervisor, 'state' | 'call' | 'settled'>,
    params: Pick<Params, 'num'>,
  ) {
    this.compile = compile;
    this.worker = worker;
    this.params = params;
  }

  private get running(): boolean {
    return this.worker.state === 'running';
  }

  get size(): number {
    return this.entries.size;
  }

  activeName(): string | null {
    return this.active?.name ?? null;
  }

  /** The program of new requests, and its backends by name with whether they have a probe. The map is the same
   * object for the same program. */
  activeBackends(): { name: string; backends: ReadonlyMap<string, boolean> } | null {
    const program = this.active?.kind === 'label' ? this.active.target : this.active;
    if (program === null || program.kind !== 'program') return null;
    const { backends: of } = program.compiled;
    const backends = this.probed.get(of) ?? new Map(of.map((b) => [b.name, b.probe !== undefined]));
    this.probed.set(of, backends);
    return { name: program.name, backends };
  }

  /** Names that `return (vcl(...))` may use. */
  labelNames(): string[] {
    return [...this.entries.values()].filter((e) => e.kind === 'label').map((e) => e.name);
  }

  /** Copies of extension files that a new worker may need. */
  moduleCopies(): string[] {
    return [...this.entries.values()].flatMap((e) =>
      e.kind === 'program' ? e.compiled.modules.flatMap((m) => m.copy ?? []) : [],
    );
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  /** The programs for a new worker, in loading order, after all pending changes. Later changes wait until it serves. */
  forWorker(): Promise<WorkerPrograms | null> {
    return this.serialize(async () => {
      this.workerStarting = this.worker.settled();
      return this.snapshot();
    });
  }

  private snapshot(): WorkerPrograms | null {
    if (this.active === null) return null;
    const programs: LoadedProgram[] = [];
    const labels: ProgramLabel[] = [];
    const order = loadingOrder(this.entries);
    for (const e of order) {
      if (e.kind === 'label') labels.push({ name: e.name, target: e.target.name });
      else programs.push({ name: e.name, program: withoutText(e.compiled), state: e.state, warm: e.warm });
    }
    return { programs, labels, order: order.map((e) => e.name), active: this.active.name };
  }

  /** The worker serves: unused programs may cool down from now on. */
  workerStarted(): void {
    for (const e of this.entries.values()) if (e.kind === 'program') this.setCooldown(e);
  }

  /** vcl.load and vcl.inline, after reading the file. */
  load(name: string, source: SourceText | CommandReply, state = 'auto'): Promise<CommandReply> {
    return this.serialize(async () => {
      const refused = this.checkName(name) ?? checkState(state);
      if (refused !== null) return refused;
      const tooMany = this.countPrograms() >= this.params.num('max_vcl');
      if (tooMany && this.params.num('max_vcl_handling') === 2) {
        return cannot(
          `Too many (${this.countPrograms()}) VCLs already loaded\n(See max_vcl and max_vcl_handling parameters)`,
        );
      }
      if ('status' in source) return source;
      const result = await this.compiled(source);
      if ('status' in result) return result;
      const { program: compiled, notes } = result;
      const program: Program = {
        kind: 'program',
        name,
        compiled,
        state: state as ProgramState,
        warm: state !== 'cold',
        coolAt: 0,
      };
      const running = this.running;
      if (running) {
        const load: LoadedProgram = {
          name,
          program: withoutText(compiled),
          state: program.state,
          warm: program.warm,
        };
        const reply = await this.worker.call({ op: 'vcl.load', load });
        if (reply.status !== CLI.OK) return { status: reply.status, body: notes + reply.body };
      }
      this.entries.set(name, program);
      this.setCooldown(program);
      if (tooMany && this.params.num('max_vcl_handling') === 1) {
        return ok(
          `${notes}${this.countPrograms()} VCLs loaded\nRemember to vcl.discard the old/unused VCLs.\n(See max_vcl and max_vcl_handling parameters)`,
        );
      }
      return ok(running ? notes : `${notes}VCL compiled.\n`);
    });
  }

  /** Compiles a program and loads nothing. */
  async check(
    source: SourceText,
  ): Promise<{ files: CompiledProgram['files']; notes: string } | CommandReply> {
    const result = await this.compiled(source);
    return 'status' in result ? result : { files: result.program.files, notes: result.notes };
  }

  /** Compiles a program, beside which the active one stands. */
  async compare(
    source: SourceText,
  ): Promise<{ before: CompiledProgram; after: CompiledProgram; active: string } | CommandReply> {
    const active = this.activeName();
    const entry = this.active;
    if (entry === null || active === null) return bad('No active VCL to compare with');
    const before = (entry.kind === 'label' ? entry.target : entry).compiled;
    const result = await this.compiled(source);
    return 'status' in result ? result : { before, after: result.program, active };
  }

  private async compiled(source: SourceText): Promise<Compiled | CommandReply> {
    const result = await this.compile(source);
    if (typeof result === 'string') return bad(result);
    return 'program' in result ? result : { program: result, notes: '' };
  }

  use(name: string): Promise<CommandReply> {
    return this.serialize(async () => {
      const entry = this.entries.get(name);
      if (entry === undefined) return unknown(name);
      if (entry === this.active) return ok();
      const refused = await this.requireWarm(entry.kind === 'label' ? entry.target : entry);
      if (refused !== null) return refused;
      if (this.running) {
        const reply = await this.worker.call({ op: 'vcl.use', name });
        if (reply.status !== CLI.OK) return reply;
      }
      const before = this.active;
      this.active = entry;
      for (const e of [entry, before]) if (e?.kind === 'program') this.setCooldown(e);
      return ok(`VCL '${name}' now active`);
    });
  }

  setState(name: string, state: string): Promise<CommandReply> {
    return this.serialize(async () => {
      const entry = this.entries.get(name);
      if (entry === undefined) return unknown(name);
      if (entry.kind === 'label') return bad('Labels are always warm');
      const refused = checkState(state);
      if (refused !== null) return refused;
      if (entry.state === state) return ok();
      if (state === 'cold') {
        if (labelsOf(this.entries, entry).length > 0) return cannot('A labeled VCL cannot be set cold');
        if (entry === this.active) return cannot('Cannot set the active VCL cold.');
      }
      const warm = state === 'auto' ? entry.warm : state === 'warm';
      const failed = await this.setTemperature(entry, state as ProgramState, warm);
      if (failed !== null) return failed;
      this.setCooldown(entry);
      return ok();
    });
  }

  discard(patterns: readonly string[]): Promise<CommandReply> {
    return this.serialize(async () => {
      const doomed = new Set<Entry>();
      for (const pattern of patterns) {
        const found = [...this.entries.values()].filter((e) => matchesGlob(pattern, e.name));
        if (found.length === 0) return bad(`No VCL name matches ${pattern}\n`);
        if (this.active !== null && found.includes(this.active)) {
          return cannot(`Cannot discard active VCL program ${this.active.name}\n`);
        }
        for (const e of found) doomed.add(e);
      }
      const needed = stillNeeded(this.entries, doomed);
      if (needed !== null) {
        const { entry, by } = needed;
        const names = by.map((e) => `\t${e.name}\n`).join('');
        return cannot(
          entry.kind === 'label'
            ? `Cannot discard VCL label ${entry.name}, other VCLs depend on it:\n${names}`
            : `Cannot discard labeled VCL program ${entry.name}:\n${names}`,
        );
      }
      for (const e of leavingOrder(this.entries, doomed)) {
        if (this.running) {
          const reply = await this.worker.call({ op: 'vcl.discard', name: e.name });
          if (reply.status !== CLI.OK) return reply;
        }
        this.entries.delete(e.name);
        if (e.kind === 'label') this.setCooldown(e.target);
      }
      return ok();
    });
  }

  label(name: string, target: string): Promise<CommandReply> {
    return this.serialize(async () => {
      const at = this.entries.get(name);
      if (at === undefined) {
        const refused = this.checkName(name);
        if (refused !== null) return refused;
      } else if (at.kind !== 'label') return bad(`${name} is not a label`);
      const program = this.entries.get(target);
      if (program === undefined) return unknown(target);
      if (program.kind === 'label') return cannot('VCL labels cannot point to labels');
      if (at !== undefined) {
        const loop = loopText(this.entries, name, program);
        if (loop !== null) return bad(loop);
      }
      const refused = await this.requireWarm(program);
      if (refused !== null) return refused;
      if (this.running) {
        const reply = await this.worker.call({ op: 'vcl.label', name, target });
        if (reply.status !== CLI.OK) return reply;
      }
      const before = at?.target;
      if (at !== undefined) at.target = program;
      else this.entries.set(name, { kind: 'label', name, target: program });
      this.setCooldown(program);
      if (before !== undefined) this.setCooldown(before);
      return ok();
    });
  }

  /** The files of a program, the main one first; null if there is no such program. */
  files(name: string | undefined): CompiledProgram['files'] | null {
    const entry = name === undefined ? this.active : this.entries.get(name);
    if (entry === undefined || entry === null) return null;
    return (entry.kind === 'label' ? entry.target : entry).compiled.files;
  }

  async list(): Promise<ProgramInfo[]> {
    const seen = this.running ? readStatuses((await this.worker.call({ op: 'vcl.list' })).body) : null;
    return programList(this.entries, this.active, seen);
  }

  /** Names with their dependencies, in loading order. */
  deps(): Dependencies[] {
    return [...this.entries.values()].map((e) => ({ name: e.name, deps: needs(e) }));
  }

  close(): void {
    if (this.cooling !== null) clearTimeout(this.cooling);
    this.cooling = null;
  }

  /** Warms an auto program if necessary; null if it is warm now. */
  private async requireWarm(program: Program): Promise<CommandReply | null> {
    if (program.state === 'cold') {
      return cannot(`VCL '${program.name}' is cold - set to auto or warm first`);
    }
    return program.warm ? null : this.setTemperature(program, program.state, true);
  }

  /** Sets state and temperature of a program, also in the worker; null, or the error. */
  private async setTemperature(
    program: Program,
    state: ProgramState,
    warm: boolean,
  ): Promise<CommandReply | null> {
    if (this.running) {
      const reply = await this.worker.call({ op: 'vcl.state', name: program.name, state, warm });
      if (reply.status !== CLI.OK) return reply;
    }
    program.state = state;
    program.warm = warm;
    return null;
  }

  /** Unused programs are neither active nor labelled and switch to no label, as in Varnish. */
  private setCooldown(program: Program): void {
    const idle =
      program !== this.active &&
      program.state === 'auto' &&
      program.warm &&
      this.running &&
      needs(program).length === 0 &&
      labelsOf(this.entries, program).length === 0;
    program.coolAt = idle ? Date.now() + this.params.num('vcl_cooldown') * 1000 : 0;
    if (idle) this.schedule();
  }

  private schedule(): void {
    if (this.cooling !== null) clearTimeout(this.cooling);
    this.cooling = null;
    let next = 0;
    for (const e of this.entries.values()) {
      if (e.kind === 'program' && e.coolAt > 0 && (next === 0 || e.coolAt < next)) next = e.coolAt;
    }
    if (next === 0) return;
    const wait = Math.min(Math.max(next - Date.now(), 0) + 1, 2 ** 31 - 1);
    this.cooling = setTimeout(() => void this.serialize(() => this.coolDown()), wait);
    this.cooling.unref();
  }

  private async coolDown(): Promise<void> {
    // A starting worker has received the temperatures; counting restarts when it serves.
    if (!this.running) return;
    const now = Date.now();
    for (const e of [...this.entries.values()]) {
      if (e.kind !== 'program' || e.coolAt === 0 || e.coolAt > now) continue;
      e.coolAt = 0;
      await this.setTemperature(e, 'auto', false);
    }
    this.schedule();
  }

  /** Serializes changes. */
  private serialize<T>(change: () => Promise<T>): Promise<T> {
    const run = this.queue.then(() => this.workerStarting).then(change);
    this.queue = run.catch(() => undefined);
    return run;
  }

  private countPrograms(): number {
    let n = 0;
    for (const e of this.entries.values()) if (e.kind === 'program') n++;
    return n;
  }

  private checkName(name: string): CommandReply | null {
    const illegal = illegalName(name);
    if (illegal !== null) return bad(illegal);
    return this.entries.has(name) ? bad(`Already a VCL named ${name}`) : null;
  }
}

/** A program as sent to the worker: without its source text, which only the manager displays. */
function withoutText(program: CompiledProgram): CompiledProgram {
  return { ...program, files: program.files.map(({ name }) => ({ name, text: '' })) };
}

function checkState(state: string): CommandReply | null {
  const problem = wordProblem(STATE, state);
  return problem === null ? null : bad(problem);
}

function unknown(name: string): CommandReply {
  return bad(`No VCL named ${name} known\n`);
}
