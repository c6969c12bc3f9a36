// The programs that come with the package: the builtin one in its profiles, and those that may be included. All are
// read at once and kept, because a daemon compiles programs for longer than its package may be there.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inPackage } from '../../protocol/files/package.ts';

const RECIPES = 'daemon/vcl/recipes';
const BUILTIN = ['builtin.vcl', 'builtin-rfc9111.vcl'];

let kept: ReadonlyMap<string, string> | null = null;

/** Texts by full name. Throws what reading a file throws. */
export function ownPrograms(): ReadonlyMap<string, string> {
  kept ??= new Map(
    [
      ...BUILTIN.map((name) => inPackage(join('daemon/vcl', name))),
      ...readdirSync(inPackage(RECIPES)).map(recipePath),
    ].map((file) => [file, readFileSync(file, 'utf8')]),
  );
  return kept;
}

/** Text of a builtin program. */
export function builtinSource(name: string): string {
  return ownPrograms().get(inPackage(join('daemon/vcl', name))) as string;
}

/** The full name under which a program to include would come with the package. */
export function recipePath(name: string): string {
  return inPackage(join(RECIPES, name));
}
