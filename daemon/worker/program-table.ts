// The programs and labels of a worker: the one that new requests start with, and those that still run although they
// were discarded. The manager decides; this table carries it out.
//
// Caution: a discarded program is removed when its last transaction has ended, never before, and another one of its
// name may be loaded meanwhile. Labels are shared objects, so that all programs see a moved label at once.
//
// A load may take many turns. The program is not visible before the last of them; if it fails, nothing of it remains.

import type { CommandReply } from '../../protocol/messages.ts';
import type { Director, ImportedExtension } from '../contract/context.ts';
import { ModuleCache } from '../extensions/load/module-cache.ts';
import type { InitMessage, LoadedProgram, ProgramState, ProgramStatus, WorkerCall } from '../link.ts';
import type { ProgramIdentity } from './backend-threads.ts';
import { type LabelEntry, type Loading, ProgramEntry, type ProgramServices } from './program-entry.ts';

export type { ProgramEntry } from './program-entry.ts';

/** Executes a call of the manager in this thread. */
export type CarriesOut = (call: WorkerCall) => Promise<CommandReply>;

export class ProgramTable {
  /** The program that new requests start with. */
  active: ProgramEntry | null = null;
  private readonly services: ProgramServices;
  /** All programs and labels in order of loading, discarded programs included. */
  private all: (ProgramEntry | LabelEntry)[] = [];
  private readonly programs = new Map<string, ProgramEntry>();
  private readonly labels = new Map<string, LabelEntry>();
  private activeLabel: LabelEntry | null = null;
  private readonly modules = new ModuleCache();
  /** Programs that become cold or are removed once no transaction runs them. */
  private readonly unsettled = new Set<ProgramEntry>();
  private readonly loads = new Map<string, Loading>();
  /** Programs whose resources are being released. */
  private readonly ending = new Set<ProgramEntry>();

  constructor(services: ProgramServices) {
    this.services = services;
    if (services.backendThreads !== null)
      services.backendThreads.onKept = (program, key) => this.backendKept(program, key);
  }

  /** Loads the state a worker starts with. Throws when a program cannot run: one that could before must not be lost. */
  async begin(
    init: Pick<InitMessage, 'programs' | 'labels' | 'order' | 'active'>,
    call: CarriesOut,
  ): Promise<void> {
    const labels = init.labels ?? [];
    // Programs look up the labels they use; the labels get their targets when all programs are loaded.
    for (const { name } of labels) this.labels.set(name, { name, target: null as unknown as ProgramEntry });
    for (const load of init.programs) {
      const { status, body } = await call({ op: 'vcl.load', load });
      if (status !== 200) throw new Error(body);
    }
    for (const label of labels) await call({ op: 'vcl.label', ...label });
    const place = new Map(init.order?.map((name, i) => [name, i]));
    this.all.sort((a, b) => (place.get(a.name) ?? 0) - (place.get(b.name) ?? 0));
    await call({ op: 'vcl.use', name: init.active });
  }

  /** Returns null, or why the program cannot run here in the words of the CLI; then nothing of it remains. */
  async load(load: LoadedProgram): Promise<string | null> {
    const labels = new Map<string, LabelEntry>();
    for (const name of load.program.labels) {
      const label = this.labels.get(name);
      if (label !== undefined) labels.set(name, label);
    }
    const loading: Loading = { isWanted: true, entry: null };
    this.loads.set(load.name, loading);
    const entry = await ProgramEntry.load(this.services, load, labels, this.modules, loading);
    if (this.loads.get(load.name) === loading) this.loads.delete(load.name);
    if (typeof entry === 'string') return failed(`VCL "${load.name}" Failed initialization`, entry);
    this.programs.set(load.name, entry);
    this.all.push(entry);
    this.count();
    return null;
  }

  /** Makes a program, or the program a label points to, the one that new requests start with. */
  use(name: string): boolean {
    const label = this.labels.get(name) ?? null;
    const entry = label?.target ?? this.programs.get(name);
    if (entry === undefined) return false;
    this.activeLabel = label;
    this.active = entry;
    return true;
  }

  label(name: string, target: string): boolean {
    const program = this.programs.get(target);
    if (program === undefined) return false;
    let label = this.labels.get(name);
    if (label === undefined) {
      label = { name, target: program };
      this.labels.set(name, label);
    } else label.target = program;
    if (!this.all.includes(label)) this.all.push(label);
    if (label === this.activeLabel) this.active = program;
    return true;
  }

  discard(name: string): void {
    const label = this.labels.get(name);
    if (label !== undefined) {
      this.labels.delete(name);
      this.all = this.all.filter((e) => e !== label);
      return;
    }
    const entry = this.programs.get(name);
    if (entry === undefined) {
      const loading = this.loads.get(name);
      if (loading !== undefined) loading.isWanted = false;
      return;
    }
    this.programs.delete(name);
    entry.discarded = true;
    entry.cool();
    this.unsettled.add(entry);
    this.sweep();
    this.count();
  }

  /** Returns null, or why the program cannot have this temperature in the words of the CLI. */
  async setState(name: string, state: ProgramState, warm: boolean): Promise<string | null> {
    const entry = this.programs.get(name);
    if (entry === undefined) return null;
    if (!warm) entry.cool();
    const problem = warm ? await entry.warm() : null;
    if (problem !== null) return failed(`Failed <vcl.state ${name} ${state}>`, problem);
    entry.state = state;
    if (!entry.settle()) this.unsettled.add(entry);
    return null;
  }

  /** Whether an extension loaded from a file threw this outside of every call; then the worker continues. */
  isOutsideFault(error: unknown): boolean {
    return this.modules.isOutsideFault(error);
  }

  list(): ProgramStatus[] {
    return this.all.map((e) => {
      const isLabel = !(e instanceof ProgramEntry);
      return {
        name: e.name,
        label: isLabel,
        discarded: !isLabel && e.discarded,
        temperature: isLabel ? 'warm' : e.temperature,
        refs: isLabel ? 0 : e.refs,
      };
    });
  }

  /** Requests and fetches that use a program; one that runs two programs counts for both. */
  get transactions(): number {
    return this.all.reduce((sum, e) => (e instanceof ProgramEntry ? sum + e.refs : sum), 0);
  }

  /** All directors of all programs, backends first; names are "<program>.<director>". */
  *directors(): Iterable<[name: string, director: Director]> {
    for (const entry of this.programs.values()) {
      for (const director of entry.program.directors.values()) {
        yield [`${entry.name}.${director.vclName}`, director];
      }
    }
  }

  /** Cools and removes programs that no transaction runs any more. */
  sweep(): void {
    const before = this.unsettled.size;
    if (before === 0) return;
    for (const entry of this.unsettled) {
      if (!entry.settle() || this.isNeeded(entry)) continue;
      this.unsettled.delete(entry);
      if (!entry.discarded) continue;
      this.ending.add(entry);
      void entry.end().then(() => this.ending.delete(entry));
      this.all = this.all.filter((e) => e !== entry);
    }
    if (this.unsettled.size < before) this.count();
  }

  /** Whether a discarded program that still runs may switch to this one. */
  private isNeeded(entry: ProgramEntry): boolean {
    if (!entry.discarded) return false;
    for (const other of this.unsettled) {
      if (other === entry || !other.discarded) continue;
      for (const label of other.labels.values()) if (label.target === entry) return true;
    }
    return false;
  }

  close(): void {
    for (const loading of this.loads.values()) {
      loading.isWanted = false;
      loading.entry?.endAtOnce();
    }
    for (const e of [...this.ending, ...this.all]) if (e instanceof ProgramEntry) e.endAtOnce();
    this.all = [];
    this.programs.clear();
    this.labels.clear();
    this.unsettled.clear();
  }

  private backendKept({ name, loading }: ProgramIdentity, key: string): void {
    for (const e of this.all)
      if (e instanceof ProgramEntry && e.name === name && e.loading === loading) e.backendKept(key);
  }

  private count(): void {
    const { stats } = this.services;
    let backends = 0;
    let discarded = 0;
    const extensions = new Set<ImportedExtension>();
    for (const e of this.all) {
      if (!(e instanceof ProgramEntry)) continue;
      for (const { decl } of e.backends.values()) if (decl.none !== true) backends++;
      if (e.discarded) discarded++;
      for (const extension of e.program.extensions) extensions.add(extension);
    }
    stats.n_vcl_avail = this.programs.size;
    stats.n_vcl_discard = discarded;
    stats.n_vcl = this.programs.size + discarded;
    stats.n_backend = backends;
    stats.vmods = extensions.size;
  }
}

/** A failure and its message, in Varnish's layout. */
function failed(what: string, message: string): string {
  return `${what}\nMessage:\n\t${message}\n`;
}
