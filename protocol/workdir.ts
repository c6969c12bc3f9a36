// Where a daemon keeps its files, and where every tool looks for them: the meaning of -n.
//
// A pure function of the name given, the environment and the user id, so that all programs agree. It never
// looks at the file system; whether the place is memory-backed is the daemon's business.

/** Names of the files in a working directory that more than one program knows. */
export const WORKDIR_FILES = {
  socket: 'console.sock',
  secret: 'secret',
  pid: 'pid',
  lock: 'lock',
  log: 'log.ring',
  counters: 'counters',
} as const;

/** Absolute path of the working directory for `-n name`; undefined or '' is the default place. */
export function resolveWorkdir(
  name: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  uid: number,
): string {
  const runtime = env.XDG_RUNTIME_DIR;
  const inRuntime = runtime?.startsWith('/') === true;
  const parent = inRuntime ? runtime.replace(/\/+$/, '') : '/dev/shm';
  if (name === undefined || name === '') return inRuntime ? `${parent}/proxyd` : `${parent}/proxyd-${uid}`;
  if (name.startsWith('/')) return name.length > 1 ? name.replace(/\/+$/, '') : name;
  return `${parent}/${name.replace(/\/+$/, '')}`;
}
