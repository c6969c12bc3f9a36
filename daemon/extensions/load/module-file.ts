// Files of outside extensions: search path, kind and content.

import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** `script` is JavaScript whose module format is known only after loading. */
export type ModuleKind = 'addon' | 'esm' | 'cjs' | 'script';

export interface ModuleFile {
  /** Full name without symbolic links. */
  path: string;
  kind: ModuleKind;
  /** SHA-256 of the content, in hex. */
  digest: string;
  bytes: Buffer;
}

const LARGEST_FILE = 64 * 1024 * 1024;

/** File names for `import x;`, in search order within each directory. */
function fileNames(name: string): string[] {
  return [`${name}.mjs`, `${name}.js`, `${name}.cjs`, `${name}.node`, `libvmod_${name}.so`];
}

/** Finds the file of an import, or null. `from` is the text of the program. */
export function findModule(name: string, from: string | null, path: readonly string[]): string | null {
  if (from !== null && isAbsolute(from)) return from;
  for (const dir of path) {
    for (const file of from === null ? fileNames(name) : [from]) {
      const full = join(dir, file);
      if (statSync(full, { throwIfNoEntry: false }) !== undefined) return full;
    }
  }
  return null;
}

function kindOf(path: string, bytes: Buffer): ModuleKind | null {
  const magic = bytes.subarray(0, 4).toString('hex');
  if (['7f454c46', 'cffaedfe', 'cefaedfe', 'cafebabe'].includes(magic) || path.endsWith('.node'))
    return 'addon';
  if (path.endsWith('.mjs')) return 'esm';
  if (path.endsWith('.cjs')) return 'cjs';
  return path.endsWith('.js') ? 'script' : null;
}

/** Reads a module's file; throws with a message for the operator. */
export function readModule(name: string): ModuleFile {
  const path = realpathSync(name);
  const stat = statSync(path);
  if (!stat.isFile()) throw new Error(stat.isDirectory() ? 'Is a directory' : 'Is no file');
  if (stat.size > LARGEST_FILE) throw new Error(`Is larger than ${LARGEST_FILE} bytes`);
  const bytes = readFileSync(path);
  const kind = kindOf(name, bytes) ?? kindOf(path, bytes);
  if (kind === null) {
    throw new Error('Is neither a JavaScript module (.js, .mjs, .cjs) nor a compiled addon (.node, .so)');
  }
  return { path, kind, digest: digestOf(bytes), bytes };
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
