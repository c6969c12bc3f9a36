// The working directory, where a daemon keeps its files and tools look for them: the meaning of -n. The default
// locations cannot be created by other users first: /run belongs to root, $XDG_RUNTIME_DIR and the state directory to
// their user. Pure functions of the name and the user, so that all programs agree; they never access the file system.
// The daemon checks whether a place is safe and memory-backed; the tools check where a daemon is.

import { createHash } from 'node:crypto';
import { homedir } from 'node:os';

/** Names of the files in a working directory that several programs know. */
export const WORKDIR_FILES = {
  socket: 'console.sock',
  /** For read-only clients (--read-group). */
  readSocket: 'read.sock',
  secret: 'secret',
  pid: 'pid',
  lock: 'lock',
  /** The worker's own directory, the only one that its user writes to. */
  worker: 'worker',
  log: 'worker/log.ring',
  counters: 'worker/counters',
  modules: 'vmod_cache',
  history: 'history',
  /** Keys of session tickets, for the manager only. */
  tickets: 'tls.tickets',
} as const;

/** The environment on which the meaning of a name depends. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  uid: number;
  home: string;
}

/** Those of this process. */
export function surroundings(): Surroundings {
  return { env: process.env, uid: process.geteuid?.() ?? 0, home: home() };
}

/** A user id without an account has no home. */
function home(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}

const DEFAULT_NAME = 'proxyd';

/** Variables of the environment that say what -n is where it is not given: ours, then the one that Varnish has since 7.6. */
const DEFAULT_VARIABLES = ['PROXYD_DEFAULT_N', 'VARNISH_DEFAULT_N'] as const;

/** The name that a missing or empty one stands for. */
function nameOr(name: string | undefined, { env }: Pick<Surroundings, 'env'>): string {
  const names = [name, ...DEFAULT_VARIABLES.map((variable) => env[variable])];
  return names.find((text) => text !== undefined && text !== '') ?? DEFAULT_NAME;
}

/** Absolute paths that `-n name` may mean, the daemon's first choice first; undefined or '' is the default. */
export function workdirPlaces(name: string | undefined, at: Surroundings): string[] {
  const own = nameOr(name, at);
  const trimmed = own.length > 1 ? own.replace(/\/+$/, '') : own;
  return own.startsWith('/') ? [trimmed] : parents(at).map((parent) => `${parent}/${trimmed}`);
}

/** Absolute path of the working directory of a daemon started with `-n name`. */
export function resolveWorkdir(name: string | undefined, at: Surroundings): string {
  return workdirPlaces(name, at)[0] as string;
}

/** Base directory of working directories named without a path, which may have to be created; null for a path. */
export function workdirParent(name: string | undefined, at: Surroundings): string | null {
  return nameOr(name, at).startsWith('/') ? null : (parents(at)[0] as string);
}

/** Absolute path of the directory where a daemon keeps a kind of data that outlives it, on a disk: below $STATE_DIRECTORY
 * (systemd's, of one unit), else /var/lib/proxyd for root and $XDG_STATE_HOME/proxyd (~/.local/state/proxyd) for others.
 * Daemons with other working directories than the default have one each. Null for a user without a home.
 * @param workdir the resolved working directory */
export function stateDirectory(kind: string, workdir: string, at: Surroundings): string | null {
  const unit = absolute(at.env.STATE_DIRECTORY?.split(':')[0]);
  if (unit !== null) return `${unit}/${kind}`;
  const state = at.uid === 0 ? '/var/lib' : userState(at);
  if (state === null) return null;
  if (workdir === resolveWorkdir(DEFAULT_NAME, at)) return `${state}/${DEFAULT_NAME}/${kind}`;
  const digest = createHash('sha256').update(workdir).digest('hex').slice(0, 8);
  const name = workdir.slice(workdir.lastIndexOf('/') + 1, workdir.lastIndexOf('/') + 65);
  return `${state}/${DEFAULT_NAME}/${kind}@${name}-${digest}`;
}

function userState({ env, home }: Surroundings): string | null {
  const own = absolute(env.XDG_STATE_HOME);
  return own ?? (home.startsWith('/') ? `${home.replace(/\/+$/, '')}/.local/state` : null);
}

function parents({ env, uid, home }: Surroundings): string[] {
  const runtime = absolute(env.XDG_RUNTIME_DIR);
  const own = [
    ...(runtime === null ? [] : [runtime]),
    absolute(env.XDG_STATE_HOME) ?? `${home.replace(/\/+$/, '')}/.local/state`,
  ];
  return uid === 0 ? ['/run', ...own] : [...own, '/run'];
}

function absolute(path: string | undefined): string | null {
  return path?.startsWith('/') === true ? path.replace(/(?<=.)\/+$/, '') : null;
}
