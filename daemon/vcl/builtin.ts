// Finds the builtin program beside this module: in the source tree, and in dist/ where the build copies it.

import { readFileSync } from 'node:fs';

/** Text of builtin.vcl. */
export function builtinText(): string {
  return readFileSync(new URL('./builtin.vcl', import.meta.url), 'utf8');
}
