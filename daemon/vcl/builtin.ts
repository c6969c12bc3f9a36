// Finds the builtin program beside this module: in the source tree, and in dist/ where the build copies it.

import { readFileSync } from 'node:fs';

/** The choices of the parameter http_profile. */
export type Profile = 'classic' | 'rfc9111';

/** A sub of our own files: they end in a brace of their own at the start of a line. */
const SUB = /^sub (\w+) \{\n(?:.*\n)*?\}\n/gm;

/** Text of the builtin program; a profile replaces the subs that its own file has. */
export function builtinText(profile: Profile = 'classic'): string {
  const text = readFileSync(new URL('./builtin.vcl', import.meta.url), 'utf8');
  if (profile === 'classic') return text;
  const other = readFileSync(new URL(`./builtin-${profile}.vcl`, import.meta.url), 'utf8');
  const subs = new Map([...other.matchAll(SUB)].map(([sub, name]) => [name as string, sub]));
  return text.replace(SUB, (sub, name: string) => subs.get(name) ?? sub);
}
