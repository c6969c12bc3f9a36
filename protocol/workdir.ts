// The working directory, where a daemon keeps its files and every tool looks for them: the meaning of -n.
//
// The default places are such that nobody else can create them first: /run belongs to root, $XDG_RUNTIME_DIR and the
// state directory to their user. Pure functions of the name and of the user, so that all programs agree; they never
// look at the file system. The daemon checks whether a place is safe and memory-backed; the tools check where a daemon
// is.

import { homedir } from 'node:os';

/** Names of the files in a working directory that more than one program knows. */
export const WORKDIR_FILES = {
  socket: 'console.sock',
  /** For readers that may not change anything (--read-group). */
  readSocket: 'read.sock',
  secret: 'secret',
  pid: 'pid',
  lock: 'lock',
  /** The worker's own directory: its user writes there and nowhere else. */
  worker: 'worker',
  log: 'worker/log.ring',
  counters: 'worker/counters',
  modules: 'vmod_cache',
  history: 'history',
} as const;

/** The environment that the meaning of a name depends on. */
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

/** Absolute paths that `-n name` may mean, the one that a daemon takes first; undefined or '' is the default. */
export function workdirPlaces(name: string | undefined, at: Surroundings): string[] {
  const own = name === undefined || name === '' ? DEFAULT_NAME : name;
  const trimmed = own.length > 1 ? own.replace(/\/+$/, '') : own;
  return own.startsWith('/') ? [trimmed] : parents(at).map((parent) => `${parent}/${trimmed}`);
}

/** Absolute path of the working directory of a daemon that is started with `-n name`. */
export function resolveWorkdir(name: string | undefined, at: Surroundings): string {
  return workdirPlaces(name, at)[0] as string;
}

/** The directory that names of working directories without a path are relative to, which may have to be made; null for a
 * path. */
export function workdirParent(name: string | undefined, at: Surroundings): string | null {
  return name?.startsWith('/') === true ? null : (parents(at)[0] as string);
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
