// The text of the builtin program, by profile.

import { type OwnProgram, ownPrograms } from './own-programs.ts';

/** The choices of the parameter http_profile. */
export type Profile = 'classic' | 'rfc9111';

/** A sub of the builtin files, which ends with a brace at the start of a line. */
const SUB = /^sub (\w+) \{\n(?:.*\n)*?\}\n/gm;

/** Text of the builtin program; a profile replaces the subs that its own file has. */
export function builtinText(profile: Profile = 'classic'): string {
  const text = source('builtin.vcl');
  if (profile === 'classic') return text;
  const other = source(`builtin-${profile}.vcl`);
  const subs = new Map([...other.matchAll(SUB)].map(([sub, name]) => [name as string, sub]));
  return text.replace(SUB, (sub, name: string) => subs.get(name) ?? sub);
}

function source(file: string): string {
  return (ownPrograms().builtin.get(file) as OwnProgram).text;
}
