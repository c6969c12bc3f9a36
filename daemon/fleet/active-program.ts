// Which program a fleet runs, as the bus keeps it: one for all, and while it is tried, another on some nodes. One value, so
// that of two who change it at once one is refused.

import { isName, isProgramName } from './fleet-names.ts';
import { objectIn } from './program-bundle.ts';

export interface ChosenProgram {
  readonly name: string;
  /** Of the bundle that was chosen. */
  readonly id: string;
  /** The node that it was chosen on, and when, in epoch seconds. */
  readonly by: string;
  readonly at: number;
}

export interface ActivePrograms {
  /** Null: each node runs its own. */
  readonly all: ChosenProgram | null;
  readonly canary: (ChosenProgram & { readonly on: readonly string[] }) | null;
}

export const NOTHING_ACTIVE: ActivePrograms = { all: null, canary: null };
const LONGEST = 64 * 1024;
const MOST_NODES = 500;

export function writeActive(active: ActivePrograms): Uint8Array {
  return Buffer.from(JSON.stringify({ v: 1, ...active }));
}

/** Null when it is none. */
export function readActive(data: Uint8Array): ActivePrograms | null {
  const value = data.length > LONGEST ? null : objectIn(data);
  if (value === null) return null;
  const all = readChosen(value.all);
  const canary = readChosen(value.canary);
  if (all === undefined || canary === undefined) return null;
  if (canary === null) return { all, canary };
  const { on } = value.canary as { on?: unknown };
  if (!Array.isArray(on) || on.length > MOST_NODES) return null;
  return on.every((node) => typeof node === 'string' && isName(node))
    ? { all, canary: { ...canary, on } }
    : null;
}

/** What a node is to run. */
export function chosenFor(node: string, { all, canary }: ActivePrograms): ChosenProgram | null {
  return canary?.on.includes(node) === true ? canary : all;
}

/** Undefined when it is none. */
function readChosen(value: unknown): ChosenProgram | null | undefined {
  if (value === null) return null;
  if (typeof value !== 'object') return undefined;
  const { name, id, by, at } = value as Record<string, unknown>;
  const right =
    typeof name === 'string' &&
    isProgramName(name) &&
    typeof id === 'string' &&
    /^[0-9a-f]{64}$/.test(id) &&
    typeof by === 'string' &&
    isName(by) &&
    typeof at === 'number';
  return right ? { name, id, by, at } : undefined;
}
