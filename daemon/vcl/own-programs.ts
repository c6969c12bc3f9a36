// The programs of the package: the builtin one in its profiles, and those that may be included. All are read at once
// and cached, because a daemon may outlive its package.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inPackage } from '../../protocol/files/package-files.ts';
import type { Release } from '../../protocol/tables/release-changes.ts';

export interface OwnProgram {
  /** Full name of its file. */
  name: string;
  text: string;
}

export interface OwnPrograms {
  /** By the name of the file. */
  builtin: ReadonlyMap<string, OwnProgram>;
  /** By the name in `include`. */
  recipes: ReadonlyMap<string, OwnProgram>;
}

let kept: OwnPrograms | null = null;

/** Throws file system errors. */
export function ownPrograms(): OwnPrograms {
  kept ??= {
    builtin: read('daemon/vcl'),
    recipes: new Map([...read('daemon/vcl/recipes'), ...read('daemon/edge/vcl')].filter(isPart)),
  };
  return kept;
}

/** For a process that receives them from another. */
export function keepPrograms(programs: OwnPrograms): void {
  kept = programs;
}

/** Complete programs among the recipes begin with a version line: one must not be used in place of a user's
 * missing file of the same name. */
function isPart([, { text }]: readonly [string, OwnProgram]): boolean {
  return !/^vcl \d/m.test(text);
}

function read(folder: string): Map<string, OwnProgram> {
  const files = readdirSync(inPackage(folder)).filter((file) => file.endsWith('.vcl'));
  return new Map(
    files.map((file) => {
      const name = inPackage(join(folder, file));
      return [file, { name, text: readFileSync(name, 'utf8') }];
    }),
  );
}

// The text of the builtin program, by profile and release.

/** Values of the parameter http_profile. */
export type Profile = 'classic' | 'rfc9111';

/** A sub in the builtin files; it ends with a brace at the start of a line. */
const SUB = /^sub (\w+) \{\n(?:.*\n)*?\}\n/gm;

/** Text of the builtin program; the files of a profile and of a release replace the subs they contain. */
export function builtinText(profile: Profile = 'classic', release: Release = '7.1'): string {
  let text = source('builtin.vcl');
  if (profile !== 'classic') text = withSubs(text, source(`builtin-${profile}.vcl`));
  if (release !== '7.1') text = withSubs(text, source(`builtin-${release}.vcl`));
  return text;
}

function withSubs(text: string, other: string): string {
  const subs = new Map([...other.matchAll(SUB)].map(([sub, name]) => [name as string, sub]));
  return text.replace(SUB, (sub, name: string) => subs.get(name) ?? sub);
}

function source(file: string): string {
  return (ownPrograms().builtin.get(file) as OwnProgram).text;
}
