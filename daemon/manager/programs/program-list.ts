// Programs as vcl.list and vcl.deps show them, and the error for a name that none may have.

import type { Release } from '../../../protocol/tables/release-changes.ts';
import type { ProgramState, ProgramStatus } from '../../link.ts';
import { type Entry, labelsOf, usersOf } from './program-graph.ts';

/** One line of vcl.list. */
export interface ProgramInfo {
  name: string;
  status: 'active' | 'available' | 'discarded';
  state: ProgramState | 'label';
  temperature: ProgramStatus['temperature'];
  /** Transactions that use it; null without a worker. */
  busy: number | null;
  /** Whose meaning it has (varnish_release when it was loaded); null for a label. */
  release: Release | null;
  /** Labels that point to it. */
  labels: number;
  target: string | null;
  /** For a label: number of programs that switch to it. */
  users: number;
}

/** A program and its dependencies. */
export interface Dependencies {
  name: string;
  deps: readonly string[];
}

type Entries = ReadonlyMap<string, Entry>;

/** @param seen by the worker, which also has discarded programs that are in use; null without a worker */
export function programList(
  entries: Entries,
  active: Entry | null,
  seen: readonly ProgramStatus[] | null,
): ProgramInfo[] {
  if (seen === null) return [...entries.values()].map((e) => infoOf(entries, active, e, null));
  return seen.flatMap((s) => {
    if (s.discarded) return discardedInfo(s);
    const e = entries.get(s.name);
    return e === undefined ? [] : infoOf(entries, active, e, s);
  });
}

function infoOf(entries: Entries, active: Entry | null, e: Entry, s: ProgramStatus | null): ProgramInfo {
  const isLabel = e.kind === 'label';
  return {
    name: e.name,
    status: e === active ? 'active' : 'available',
    state: isLabel ? 'label' : e.state,
    temperature: s?.temperature ?? (isLabel || e.warm ? 'warm' : 'cold'),
    busy: s?.refs ?? null,
    release: isLabel ? null : e.compiled.release,
    labels: isLabel ? 0 : labelsOf(entries, e).length,
    target: isLabel ? e.target.name : null,
    users: isLabel ? usersOf(entries, e).length : 0,
  };
}

function discardedInfo({ name, temperature, refs }: ProgramStatus): ProgramInfo {
  return {
    name,
    status: 'discarded',
    state: 'cold',
    temperature,
    busy: refs,
    release: null,
    labels: 0,
    target: null,
    users: 0,
  };
}

/** The worker's reply; null if it is none. */
export function readStatuses(body: string): ProgramStatus[] | null {
  try {
    const value: unknown = JSON.parse(body);
    return Array.isArray(value) ? (value as ProgramStatus[]) : null;
  } catch {
    return null;
  }
}

/** The error for an invalid program name; null if it is valid. */
export function illegalName(name: string): string | null {
  const illegal = /^[A-Za-z]/.test(name) ? /[^A-Za-z0-9_-]/.exec(name)?.[0] : name[0];
  return illegal === undefined && name !== '' ? null : `Illegal character in VCL name (${quoted(illegal)})`;
}

/** A character as a message shows it: for one beyond ASCII its first byte. */
function quoted(c = ''): string {
  return c < '\x7f' ? `'${c}'` : `0x${Buffer.from(c).toString('hex', 0, 1)}`;
}
