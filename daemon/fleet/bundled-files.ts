// What a program includes, out of its bundle: the compiler finds the same files on every node, by the same names and in the
// same order of places, and never one of the node's own disk. What is not in the bundle does not exist.

import { dirname } from 'node:path';
import type { ReaderOptions } from '../vcl/include-path.ts';
import { ownPrograms } from '../vcl/own-programs.ts';
import type { Bundle, BundledFile } from './program-bundle.ts';

/** A program as the compiler takes it. */
export interface BundledSource {
  readonly name: string;
  readonly text: string;
  readonly reader: ReaderOptions;
}

/** What a compiled program was made of, as parts of a bundle. */
export function filesOf(compiled: readonly { name: string; text: string }[]): Omit<BundledFile, 'sha256'>[] {
  const shipped = new Map([...ownPrograms().recipes].map(([include, { name }]) => [name, include]));
  // The builtin program is each node's own: it belongs to the version and to http_profile.
  return compiled
    .filter(({ name }) => name !== '<builtin>')
    .map(({ name, text }) => {
      const include = shipped.get(name) ?? null;
      return { name: include === null ? name : `proxyd:${include}`, text, shipped: include };
    });
}

export function sourceOf({ path, files }: Bundle): BundledSource {
  const byName = new Map(files.map((file) => [file.name, file]));
  const [main] = files as [BundledFile];
  return {
    name: main.name,
    text: main.text,
    reader: {
      vclPath: path,
      readFile: (name) => {
        const file = byName.get(name);
        if (file === undefined) throw Object.assign(new Error('not in the bundle'), { code: 'ENOENT' });
        return file.text;
      },
      readDir: (directory) => entriesOf(byName.keys(), directory),
      shipped: (include) => files.find((file) => file.shipped === include),
    },
  };
}

/** Names of what is in a directory, as far as the bundle has it. */
function entriesOf(names: Iterable<string>, directory: string): string[] {
  const found = new Set<string>();
  for (let name of names) {
    for (let parent = dirname(name); parent !== name; name = parent, parent = dirname(name)) {
      if (parent === directory) found.add(name.slice(name.lastIndexOf('/') + 1));
    }
  }
  return [...found];
}
