// Dependencies among loaded programs and labels: a label depends on its program, a program on the labels in its `return
// (vcl(label))`. Pure functions over the entries, which are in loading order.
//
// The graph is acyclic: a change that would create a loop is refused, with the path of the loop.

import type { CompiledProgram } from '../../contract/program.ts';
import type { ProgramState } from '../../link.ts';

export interface Program {
  kind: 'program';
  name: string;
  compiled: CompiledProgram;
  state: ProgramState;
  /** Whether its probes should run: always, unless it is cold, or auto and unused. */
  warm: boolean;
  /** When an unused auto program becomes cold (milliseconds since 1970); 0 for never. */
  coolAt: number;
}

export interface Label {
  kind: 'label';
  name: string;
  target: Program;
}

export type Entry = Program | Label;
export type Entries = ReadonlyMap<string, Entry>;

/** Labels that a program switches to. */
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

/** Entries that depend on this one. */
function dependents(entries: Entries, e: Entry): Entry[] {
  return e.kind === 'label' ? usersOf(entries, e) : labelsOf(entries, e);
}

/** Names of the entries that this one depends on. */
export function needs(e: Entry): readonly string[] {
  return e.kind === 'label' ? [e.target.name] : labelsUsed(e);
}

/** The first of `doomed`, in loading order, that a remaining entry depends on; null if all can be discarded. */
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

/** `doomed` in an order that discards dependents first. */
export function leavingOrder(entries: Entries, doomed: ReadonlySet<Entry>): Entry[] {
  const out = new Set<Entry>();
  const visit = (e: Entry): void => {
    for (const d of dependents(entries, e)) if (!out.has(d)) visit(d);
    out.add(e);
  };
  for (const e of entries.values()) if (doomed.has(e) && !out.has(e)) visit(e);
  return [...out];
}

/** All entries, dependencies first, otherwise in loading order. */
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

/** The dependency path that would become a loop if the label pointed to the program, one line per step; null if
 * there is none. */
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
