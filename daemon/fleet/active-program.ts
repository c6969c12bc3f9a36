// The program that a fleet runs, as stored on the bus: one for all nodes and, as a canary, another for some of them. It
// is a single value, so that of two concurrent changes one fails.

import { isName, isProgramName } from './fleet-names.ts';
import { objectIn } from './program-bundle.ts';

export interface ChosenProgram {
  readonly name: string;
  /** The id of the chosen bundle. */
  readonly id: string;
  /** The node on which it was chosen, and when, in epoch seconds. */
  readonly by: string;
  readonly at: number;
}

export interface ActivePrograms {
  /** Null: each node runs its own program. */
  readonly all: ChosenProgram | null;
  readonly canary: (ChosenProgram & { readonly on: readonly string[] }) | null;
}

export const NOTHING_ACTIVE: ActivePrograms = { all: null, canary: null };
const LONGEST = 64 * 1024;
const MOST_NODES = 500;

export function writeActive(active: ActivePrograms): Uint8Array {
  return Buffer.from(JSON.stringify({ v: 1, ...active }));
}

/** Null if the data is malformed. */
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

/** The program that a node should run. */
export function chosenFor(node: string, { all, canary }: ActivePrograms): ChosenProgram | null {
  return canary?.on.includes(node) === true ? canary : all;
}

/** Undefined if the value is malformed. */
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
