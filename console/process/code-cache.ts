// Compiled code of the screens, kept between starts of a console by Node 22.1 and later, in $XDG_CACHE_HOME/proxyd/code.
// Its content is executed, so a folder that other users can write to is not used: after sudo, HOME may still be that of
// the calling user.

import { lstatSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** In Node's types from release 22 on. */
type Enable = (folder: string) => unknown;

/** Bits of a mode: writable by the group or by others. */
const OTHERS_WRITE = 0o022;

/** Call before the screens are imported. Does nothing without such a folder, or without the feature. */
export function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  const enable = (module as { enableCompileCache?: Enable }).enableCompileCache;
  const folder = enable === undefined ? null : codeFolder(env);
  if (folder !== null) enable?.(folder);
}

/** The folder, made if it is missing; null if others can write to it or to one around it, or if it cannot be made. */
export function codeFolder(env: NodeJS.ProcessEnv): string | null {
  const named = env.XDG_CACHE_HOME ?? '';
  const parts = isAbsolute(named) ? [named] : [homedir(), '.cache'];
  let folder = '';
  try {
    for (const part of [...parts, 'proxyd', 'code']) {
      folder = join(folder, part);
      if (part !== parts[0]) mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (!isOwn(folder)) return null;
    }
    return folder;
  } catch {
    // A read-only home, a full disk: the screens are compiled anew.
    return null;
  }
}

function isOwn(folder: string): boolean {
  const { uid, mode } = lstatSync(folder);
  return uid === process.geteuid?.() && (mode & OTHERS_WRITE) === 0;
}
