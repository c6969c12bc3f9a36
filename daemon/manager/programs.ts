// The loaded config programs: names, states, labels, which one is active.
//
// Compiles in the manager and hands the result to the worker; a program is entered here only after the worker
// has taken it, so a failure leaves nothing behind. Text in, text out: errors carry their CLI status.
// Awkward: programs can be loaded and used while no worker runs; the next worker gets all of them at once.

import { CLI } from '../../protocol/errors.ts';
import type { LoadedProgram, ProgramState, WorkerCall } from '../link.ts';
import type { CompiledProgram } from '../vcl/program.ts';
import { globToRegExp } from './name-pattern.ts';
import type { CliReply } from './supervisor.ts';

/** Compiles a program text; the string is the compiler's message. */
export type Compile = (source: { name: string; text: string }) => Promise<CompiledProgram | string>;

interface Program {
  kind: 'program';
  name: string;
  compiled: CompiledProgram;
  state: ProgramState;
}

interface Label {
  kind: 'label';
  name: string;
  target: Program;
}

type Entry = Program | Label;

/** One line of vcl.list. */
export interface ProgramInfo {
  name: string;
  active: boolean;
  state: ProgramState | 'label';
  temperature: 'warm' | 'cold';
  /** Transactions that run it; null while no worker runs. */
  busy: number | null;
  labels: number;
  target: string | null;
}

/** The worker as far as programs need it. */
export interface ProgramWorker {
  running(): boolean;
  call(call: WorkerCall): Promise<CliReply>;
}

/** The parameters as far as programs need them. */
export interface ProgramLimits {
  maxVcl(): number;
  /** 0 nothing, 1 warn, 2 refuse. */
  handling(): number;
}

const ok = (body = ''): CliReply => ({ status: CLI.OK, body });
const bad = (body: string): CliReply => ({ status: CLI.PARAM, body });
const cannot = (body: string): CliReply => ({ status: CLI.CANT, body });

export class Programs {
  private readonly entries = new Map<string, Entry>();
  private active: Program | null = null;
  private readonly compile: Compile;
  private readonly worker: ProgramWorker;
  private readonly limits: ProgramLimits;

  constructor(compile: Compile, worker: ProgramWorker, limits: ProgramLimits) {
    this.compile = compile;
    this.worker = worker;
    this.limits = limits;
  }

  get size(): number {
    return this.entries.size;
  }

  activeName(): string | null {
    return this.active?.name ?? null;
  }

  /** Names that `return (vcl(...))` may use. */
  labelNames(): string[] {
    return [...this.entries.values()].filter((e) => e.kind === 'label').map((e) => e.name);
  }

  /** What a new worker loads: everything, in the order of loading. */
  forWorker(): { programs: LoadedProgram[]; active: string } | null {
    if (this.active === null) return null;
    const programs: LoadedProgram[] = [];
    for (const e of this.entries.values()) {
      if (e.kind === 'program') programs.push({ name: e.name, program: e.compiled, state: e.state });
    }
    return { programs, active: this.active.name };
  }

  /** vcl.load and vcl.inline once the text is at hand. */
  async load(name: string, source: { name: string; text: string }, state = 'auto'): Promise<CliReply> {
    const refused = this.checkName(name) ?? checkState(state);
    if (refused !== null) return refused;
    const tooMany = this.countPrograms() >= this.limits.maxVcl();
    if (tooMany && this.limits.handling() === 2) {
      return cannot(
        `Too many (${this.countPrograms()}) VCLs already loaded\n(See max_vcl and max_vcl_handling parameters)`,
      );
    }
    const compiled = await this.compile(source);
    if (typeof compiled === 'string') return bad(compiled);
    // Another connection may have taken the name while this one compiled.
    if (this.entries.has(name)) return bad(`Already a VCL named ${name}`);
    const program: Program = { kind: 'program', name, compiled, state: state as ProgramState };
    if (this.worker.running()) {
      const reply = await this.worker.call({
        op: 'vcl.load',
        load: { name, program: compiled, state: program.state },
      });
      if (reply.status !== CLI.OK) return reply.status === CLI.COMMS ? reply : bad(reply.body);
    }
    this.entries.set(name, program);
    if (tooMany && this.limits.handling() === 1) {
      return ok(
        `${this.countPrograms()} VCLs loaded\nRemember to vcl.discard the old/unused VCLs.\n(See max_vcl and max_vcl_handling parameters)\n`,
      );
    }
    return ok(this.worker.running() ? '' : 'VCL compiled.\n');
  }

  async use(name: string): Promise<CliReply> {
    const entry = this.entries.get(name);
    if (entry === undefined) return unknown(name);
    const program = entry.kind === 'label' ? entry.target : entry;
    if (program === this.active) return ok();
    if (program.state === 'cold') return cannot(`VCL '${program.name}' is cold - set to auto or warm first`);
    if (this.worker.running()) {
      const reply = await this.worker.call({ op: 'vcl.use', name: program.name });
      if (reply.status !== CLI.OK) return reply;
    }
    this.active = program;
    return ok(`VCL '${name}' now active`);
  }

  async setState(name: string, state: string): Promise<CliReply> {
    const refused = checkState(state);
    if (refused !== null) return refused;
    const entry = this.entries.get(name);
    if (entry === undefined) return unknown(name);
    if (entry.kind === 'label') return bad('Labels are always warm');
    if (entry.state === state) return ok();
    if (state === 'cold') {
      if (entry === this.active) return cannot('Cannot set the active VCL cold.');
      const label = this.labelsOf(entry)[0];
      if (label !== undefined) return cannot('A labeled VCL cannot be set cold');
    }
    if (this.worker.running()) {
      const reply = await this.worker.call({ op: 'vcl.state', name, state: state as ProgramState });
      if (reply.status !== CLI.OK) return reply;
    }
    entry.state = state as ProgramState;
    return ok();
  }

  async discard(patterns: readonly string[]): Promise<CliReply> {
    const doomed: Entry[] = [];
    for (const pattern of patterns) {
      const re = globToRegExp(pattern);
      const exact = this.entries.get(pattern);
      const found = exact !== undefined ? [exact] : [...this.entries.values()].filter((e) => re.test(e.name));
      // A pattern leaves the active program alone; its name spelled out is a mistake worth telling.
      const usable = exact !== undefined ? found : found.filter((e) => e !== this.active);
      if (usable.length === 0) return bad(`No VCL name matches ${pattern}\n`);
      for (const e of usable) if (!doomed.includes(e)) doomed.push(e);
    }
    for (const e of doomed) {
      if (e.kind === 'label') continue;
      if (e === this.active) return cannot(`Cannot discard active VCL program ${e.name}\n`);
      const labels = this.labelsOf(e).filter((l) => !doomed.includes(l));
      if (labels.length > 0) {
        const names = labels.map((l) => `\t${l.name}\n`).join('');
        return cannot(`Cannot discard labeled VCL program ${e.name}:\n${names}`);
      }
    }
    for (const e of doomed) {
      if (e.kind === 'program' && this.worker.running()) {
        const reply = await this.worker.call({ op: 'vcl.discard', name: e.name });
        if (reply.status !== CLI.OK) return reply;
      }
      this.entries.delete(e.name);
    }
    return ok();
  }

  label(name: string, target: string): CliReply {
    const at = this.entries.get(name);
    if (at === undefined) {
      const refused = this.checkName(name);
      if (refused !== null) return refused;
    } else if (at.kind !== 'label') return bad(`${name} is not a label`);
    const program = this.entries.get(target);
    if (program === undefined) return unknown(target);
    if (program.kind === 'label') return cannot('VCL labels cannot point to labels');
    if (program.state === 'cold') return cannot('Cannot label a cold VCL.');
    if (at?.kind === 'label') at.target = program;
    else this.entries.set(name, { kind: 'label', name, target: program });
    return ok();
  }

  /** The files of a program, the main one first; null when there is none of this name. */
  files(name: string | undefined): CompiledProgram['files'] | null {
    const entry = name === undefined ? this.active : this.entries.get(name);
    if (entry === undefined || entry === null) return null;
    return (entry.kind === 'label' ? entry.target : entry).compiled.files;
  }

  async list(): Promise<ProgramInfo[]> {
    const refs = this.worker.running() ? await this.refs() : null;
    return [...this.entries.values()].map((e) => {
      const program = e.kind === 'label' ? e.target : e;
      return {
        name: e.name,
        active: e === this.active,
        state: e.kind === 'label' ? 'label' : e.state,
        temperature: program.state === 'cold' ? 'cold' : 'warm',
        busy: refs === null ? null : e.kind === 'label' ? 0 : (refs[e.name] ?? 0),
        labels: e.kind === 'program' ? this.labelsOf(e).length : 0,
        target: e.kind === 'label' ? e.target.name : null,
      };
    });
  }

  /** Names with the names that each needs, in the order of loading. */
  deps(): { name: string; deps: string[] }[] {
    return [...this.entries.values()].map((e) => ({
      name: e.name,
      deps: e.kind === 'label' ? [e.target.name] : [],
    }));
  }

  private async refs(): Promise<Record<string, number>> {
    const reply = await this.worker.call({ op: 'vcl.refs' });
    try {
      const value: unknown = JSON.parse(reply.body);
      return typeof value === 'object' && value !== null ? (value as Record<string, number>) : {};
    } catch {
      return {};
    }
  }

  private countPrograms(): number {
    let n = 0;
    for (const e of this.entries.values()) if (e.kind === 'program') n++;
    return n;
  }

  private labelsOf(program: Program): Label[] {
    return [...this.entries.values()].filter((e): e is Label => e.kind === 'label' && e.target === program);
  }

  private checkName(name: string): CliReply | null {
    const illegal = /^[A-Za-z]/.test(name) ? /[^A-Za-z0-9_.-]/.exec(name)?.[0] : name[0];
    if (illegal !== undefined || name === '')
      return bad(`Illegal character in VCL name ('${illegal ?? ''}')`);
    return this.entries.has(name) ? bad(`Already a VCL named ${name}`) : null;
  }
}

function checkState(state: string): CliReply | null {
  return state === 'auto' || state === 'warm' || state === 'cold'
    ? null
    : bad('State must be one of auto, cold or warm.');
}

function unknown(name: string): CliReply {
  return bad(`No VCL named ${name} known\n`);
}
