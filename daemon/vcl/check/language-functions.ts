// The functions and the words of the language itself, which no program may take for names of its own.

import type { HelperName } from '../runtime/table.ts';
import type { ProgramModel } from './program-model.ts';
import type { Joining } from './type-conversions.ts';
import { isVariable } from './variable-access.ts';

interface LanguageFunction {
  signature: string;
  places?: string;
  helper: HelperName;
  /** How the strands of its text are passed, unless they are joined without the unset ones. */
  joining?: Joining;
  /** Not in Varnish's language, so that programs may use the name. */
  ours: boolean;
}

/** Functions of the language itself, by name; `ctx` is their first argument. */
export const LANGUAGE_FUNCTIONS: ReadonlyMap<string, LanguageFunction> = new Map(
  Object.entries<LanguageFunction>({
    regsub: { signature: 'STRING regsub(STRING, REGEX, STRING)', helper: 'regsub', ours: false },
    regsuball: { signature: 'STRING regsuball(STRING, REGEX, STRING)', helper: 'regsuball', ours: false },
    hash_data: {
      signature: 'VOID hash_data(STRING)',
      places: 'hash',
      helper: 'hashData',
      joining: { absent: '\0', apart: true },
      ours: false,
    },
    synthetic: {
      signature: 'VOID synthetic(STRING)',
      places: 'synth backend_error',
      helper: 'synthetic',
      joining: { absent: '(null)', apart: false },
      ours: false,
    },
    ban: { signature: 'VOID ban(STRING)', helper: 'banString', ours: false },
    querysort: { signature: 'STRING querysort(STRING)', helper: 'querysort', ours: true },
  }),
);

const KEYWORDS = new Set([
  ...['acl', 'backend', 'call', 'false', 'if', 'import', 'include', 'new'],
  ...['probe', 'return', 'set', 'sub', 'true', 'unset', 'vcl'],
]);

/** Whether a name is a variable, a function or a word of the language, and therefore taken. */
export function isReserved(name: string): boolean {
  const folded = name.toLowerCase();
  if (isVariable(folded) || KEYWORDS.has(folded)) return true;
  return LANGUAGE_FUNCTIONS.get(folded)?.ours === false;
}

/** A function of the language; one of ours gives way to a symbol of the program with its name. */
export function languageFunction(model: ProgramModel, name: string): LanguageFunction | undefined {
  const found = LANGUAGE_FUNCTIONS.get(name.toLowerCase());
  return found?.ours === true && model.declared.has(name) ? undefined : found;
}
