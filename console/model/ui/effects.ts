// The effect of a command on the current traffic, as a clause of its confirmation.

import { bareName, placeOfName } from '../session/admin-line.ts';
import { type BackendRow, memberNames, parseBackendList, shortName } from '../session/backends.ts';
import type { DaemonSession } from '../session/daemon-session.ts';
import { rate } from './numbers.ts';

interface EffectRow {
  readonly command: string;
  /** A command whose answer the effect reads; undefined if it needs none. */
  facts?(words: readonly string[]): string | undefined;
  /** '' if nothing is known, or nothing changes for the traffic. */
  effect(words: readonly string[], session: DaemonSession, part: string): string;
}

/** Lists backends with their members. */
const WITH_MEMBERS = 'backend.list -j -p';

/** Seconds for which an answer is new enough for a question (chosen). */
const NEW_ENOUGH = 5;

/** Names and directors that fit into a question (chosen). */
const NAMES = 2;

const EFFECTS: readonly EffectRow[] = [
  {
    command: 'backend.set_health',
    facts: ([, , state = '']) => (/^sick$/i.test(state) ? WITH_MEMBERS : undefined),
    effect: ([, pattern = '', state = ''], session, part) => {
      if (!/^sick$/i.test(state)) return '';
      const listed = parseBackendList(session.admin.body(WITH_MEMBERS));
      const all = (listed.length > 0 ? listed : session.backends).filter(
        ({ name }) => part === '' || placeOfName(name) === `${part}:`,
      );
      const hit = all.filter(({ name }) => isMeant(pattern, part === '' ? name : bareName(name)));
      return hit.length === 0
        ? ''
        : [loadOf(hit, session), ...elsewhere(hit, all)].filter((text) => text !== '').join('; ');
    },
  },
  {
    command: 'stop',
    effect: (_words, { counters }) => {
      const load = counters.rate('MAIN.client_req');
      return load > 0 ? `${rate(load)} requests/s come in now` : '';
    },
  },
];

/** Clauses for the question before a command, separated by `; `; '' without one. `part` is the one of several merged
 * instances that the line is for, in the names of that instance; '' otherwise. */
export function effectOf(line: string, session: DaemonSession, part: string): string {
  const words = line.trim().split(/\s+/);
  return EFFECTS.find(({ command }) => command === words[0])?.effect(words, session, part) ?? '';
}

/** The command that has to be sent before effectOf() is called; undefined if its answer is known, or none is needed. */
export function missingFacts(line: string, session: DaemonSession): string | undefined {
  const words = line.trim().split(/\s+/);
  const facts = EFFECTS.find(({ command }) => command === words[0])?.facts?.(words);
  if (facts === undefined) return undefined;
  const known = session.admin.answer(facts);
  return known !== undefined && Math.abs(session.now() - known.at) < NEW_ENOUGH ? undefined : facts;
}

/** Current requests per second of the backends; '' for directors, which have no counters. */
function loadOf(hit: readonly BackendRow[], { counters }: DaemonSession): string {
  const counted = hit.filter(({ type }) => type === 'backend');
  const load = counted.reduce((sum, { name }) => sum + counters.rate(`VBE.${name}.req`), 0);
  if (counted.length === 0 || Number.isNaN(load)) return '';
  const what = counted.length === 1 ? 'it gets' : `these ${counted.length} backends get`;
  return load > 0 ? `${what} ${rate(load)} requests/s now` : `${what} no requests now`;
}

/** Where the requests go then, a clause for each director of these backends. */
function elsewhere(hit: readonly BackendRow[], all: readonly BackendRow[]): string[] {
  const byName = new Map(all.map((b) => [b.name, b]));
  const sick = new Set(hit.map(({ name }) => name));
  const usable = (b: BackendRow, path: readonly string[]): boolean =>
    !sick.has(b.name) &&
    (b.type === 'backend' || b.admin !== 'probe'
      ? b.health === 'healthy'
      : // A director may contain itself.
        members(b).some((one) => !path.includes(one.name) && usable(one, [...path, b.name])));
  const members = (b: BackendRow): BackendRow[] => memberNames(b).flatMap((name) => byName.get(name) ?? []);
  const directors = all.filter((b) => !sick.has(b.name) && members(b).some(({ name }) => sick.has(name)));
  const clauses = directors.map((d) => {
    const left = members(d).filter((one) => usable(one, [d.name]));
    const name = shortName(d.name);
    if (left.length === 0) return `${name} has no healthy backend left`;
    // A fallback director uses its first healthy member.
    const used = (d.type === 'fallback' ? left.slice(0, 1) : left).map((one) => shortName(one.name));
    return `${name} then uses ${few(used)}`;
  });
  // Members are known only with details; without any, nothing can be said about directors.
  const isKnown = all.every((b) => b.type === 'backend' || memberNames(b).length > 0);
  if (clauses.length === 0) return isKnown ? ['no director has another backend'] : [];
  return clauses.length > NAMES ? [...clauses.slice(0, NAMES), `${clauses.length - NAMES} more`] : clauses;
}

function few(names: readonly string[]): string {
  return names.length > NAMES + 1
    ? `${names.slice(0, NAMES).join(', ')} and ${names.length - NAMES} more`
    : names.join(', ');
}

/** A pattern of backends: a full name, a name without its program, or with `*` and `?`. */
function isMeant(pattern: string, name: string): boolean {
  const glob = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  const shape = new RegExp(`^${glob}$`);
  return shape.test(name) || shape.test(name.slice(name.indexOf('.') + 1));
}
