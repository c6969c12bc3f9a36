// Resolves included files: vcl_path, then the files of the package, "./" names and +glob. Files are read through an
// interface, so that the manager can serve bundles and tests can serve memory.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { SYSTEM_TEXTS } from '../../protocol/system-text.ts';
import { fnmatch } from '../../queries/fnmatch.ts';
import { ownPrograms } from './own-programs.ts';
import { sourceText } from './source-text.ts';

export interface FoundFile {
  /** Full name; identifies the file in messages and in the check for loops. */
  name: string;
  text: string;
}

export interface PathReader {
  /** The file, or the reason of the failure. */
  resolve(name: string, from: string): FoundFile | string;
  /** Names of a directory's entries; empty if it cannot be read. */
  list(directory: string): string[];
  /** Base directory of a relative glob. */
  base(from: string): string;
}

export interface ReaderOptions {
  /** Directories for relative names, in search order. */
  vclPath?: readonly string[] | undefined;
  /** Reads a file by its full name; throws with a `code` as fs does. Default: the file system, as UTF-8. */
  readFile?: ((path: string) => string) | undefined;
  readDir?: ((path: string) => string[]) | undefined;
  /** Files for names that are not in the path. Default: those of the package. */
  shipped?: ((name: string) => FoundFile | undefined) | undefined;
}

export function fileReader(options: ReaderOptions): PathReader {
  const read = options.readFile ?? ((path: string) => sourceText(readFileSync(path)));
  const dir = options.readDir ?? ((path: string) => readdirSync(path));
  const path = options.vclPath ?? [];
  const shipped = options.shipped ?? ((name: string) => ownPrograms().recipes.get(name));
  return {
    resolve(name, from) {
      let candidates: string[];
      if (isAbsolute(name)) candidates = [name];
      else if (name.startsWith('./')) candidates = [join(dirname(from), name)];
      else candidates = path.length > 0 ? path.map((p) => join(p, name)) : [name];
      let reason = 'No such file or directory';
      for (const full of candidates) {
        try {
          return { name: full, text: read(full) };
        } catch (e) {
          const code = (e as { code?: string }).code ?? '';
          reason = SYSTEM_TEXTS[code] ?? (code || 'cannot be read');
          if (code !== 'ENOENT') return reason;
        }
      }
      if (isAbsolute(name) || name.startsWith('./')) return reason;
      return shipped(name) ?? reason;
    },
    list(directory) {
      try {
        return dir(directory).sort();
      } catch {
        return [];
      }
    },
    base(from) {
      return dirname(from);
    },
  };
}

/** Full names that match a pattern, sorted. "./" patterns are relative to `from`, others to the root. */
export function globSync(pattern: string, from: string, reader: PathReader): string[] {
  const full = isAbsolute(pattern) ? pattern : join(reader.base(from), pattern);
  let found = [full.startsWith('/') ? '/' : '.'];
  for (const part of full.split('/').filter((p) => p !== '')) {
    const wild = /[*?[]/.test(part);
    const next: string[] = [];
    for (const d of found) {
      if (!wild) next.push(join(d, part));
      else for (const e of reader.list(d)) if (fnmatch(part, e, true, false, true)) next.push(join(d, e));
    }
    found = next;
  }
  return found.filter((f) => reader.list(dirname(f)).includes(f.slice(f.lastIndexOf('/') + 1))).sort();
}
