// Who needs whom among loaded programs and labels: a label needs its program, a program the labels that its
// `return (vcl(label))` names. Pure functions over the list of entries, in the order of loading.
//
// The graph has no loops: whatever would make one is refused here, with the way round it.

import type { CompiledProgram } from '../../contract/program.ts';
import type { ProgramState } from '../../link.ts';

export interface Program {
  kind: 'program';
  name: string;
  compiled: CompiledProgram;
  state: ProgramState;
  /** Whether it is to run its probes: always unless it is cold, or auto and out of use. */
  warm: boolean;
  /** When an auto program out of use becomes cold (milliseconds of the epoch), 0 never. */
  coolAt: number;
}

export interface Label {
  kind: 'label';
  name: string;
  target: Program;
}

export type Entry = Program | Label;
export type Entries = ReadonlyMap<string, Entry>;

/** Names of the labels a program switches to. */
function labelsUsed(program: Program): readonly string[] {
  return program.compiled.labels;
}

/** Labels that point to a program. */
export function labelsOf(entries: Entries, program: Program): Label[] {
  return [...entries.values()].filter((e): e is Label => e.kind === 'label' && e.target === program);
}

/** Programs that switch to a label. */
export function usersOf(entries: Entries, label: Label): Program[] {
  return [...entries.values()].filter(
    (e): e is Program => e.kind === 'program' && labelsUsed(e).includes(label.name),
  );
}

/** What would lack something if this entry went. */
function dependents(entries: Entries, e: Entry): Entry[] {
  return e.kind === 'label' ? usersOf(entries, e) : labelsOf(entries, e);
}

/** Names an entry needs directly. */
export function needs(e: Entry): readonly string[] {
  return e.kind === 'label' ? [e.target.name] : labelsUsed(e);
}

/** The first of `doomed`, in the order of loading, that something depends on which stays; null when all can go. */
export function stillNeeded(
  entries: Entries,
  doomed: ReadonlySet<Entry>,
): { entry: Entry; by: Entry[] } | null {
  for (const entry of entries.values()) {
    if (!doomed.has(entry)) continue;
    const by = dependents(entries, entry);
    if (by.some((d) => !doomed.has(d))) return { entry, by };
  }
  return null;
}

/** `doomed` in an order in which nothing goes before what depends on it. */
export function leavingOrder(entries: Entries, doomed: ReadonlySet<Entry>): Entry[] {
  const out = new Set<Entry>();
  const visit = (e: Entry): void => {
    for (const d of dependents(entries, e)) if (!out.has(d)) visit(d);
    out.add(e);
  };
  for (const e of entries.values()) if (doomed.has(e) && !out.has(e)) visit(e);
  return [...out];
}

/** All entries, each behind what it needs, otherwise in the order they have. */
export function loadingOrder(entries: Entries): Entry[] {
  const out = new Map<string, Entry>();
  let before = -1;
  while (out.size < entries.size && out.size > before) {
    before = out.size;
    for (const e of entries.values()) {
      if (!out.has(e.name) && needs(e).every((n) => out.has(n))) out.set(e.name, e);
    }
  }
  return [...out.values()];
}

/** Why a label must not point at a program: the chain that leads back, one line a step; null when it may. */
export function loopText(entries: Entries, label: string, target: Program): string | null {
  const chain = (p: Program): string | null => {
    for (const name of labelsUsed(p)) {
      const used = `Vcl ${p.name} uses Label ${name}\n`;
      if (name === label) return used;
      const next = entries.get(name);
      const deeper = next?.kind === 'label' ? chain(next.target) : null;
      if (deeper !== null && next?.kind === 'label') {
        return `${deeper}Label ${name} points to vcl ${next.target.name}\n${used}`;
      }
    }
    return null;
  };
  const way = chain(target);
  return way === null ? null : `${way}Pointing label ${label} at ${target.name} would create a loop`;
}
