// The functions and reserved words of the language: the rows of tables/language.ts with the helper of each.

import type { HelperName } from '../runtime/table.ts';
import {
  DECLARATIONS,
  FUNCTIONS,
  type FunctionName,
  type FunctionRow,
  STATEMENTS,
} from '../tables/language.ts';
import type { ProgramModel } from './program-model.ts';
import type { Joining } from './type-conversions.ts';
import { isVariable } from './variable-access.ts';

interface Implementation {
  helper: HelperName;
  /** How the strands of its text are passed; by default joined without the unset ones. */
  joining?: Joining;
}

/** `ctx` is the first argument of each helper. */
const IMPLEMENTATIONS: Readonly<Record<FunctionName, Implementation>> = {
  regsub: { helper: 'regsub' },
  regsuball: { helper: 'regsuball' },
  hash_data: { helper: 'hashData', joining: { absent: '\0', apart: true } },
  synthetic: { helper: 'synthetic', joining: { absent: '(null)', apart: false } },
  ban: { helper: 'banString' },
  querysort: { helper: 'querysort' },
};

type LanguageFunction = FunctionRow & Implementation;

/** Functions of the language itself, by name. */
export const LANGUAGE_FUNCTIONS: ReadonlyMap<string, LanguageFunction> = new Map(
  FUNCTIONS.map((row) => [row.name, { ...row, ...IMPLEMENTATIONS[row.name] }]),
);

/** Not `unused`, which 7.1 does not know: its programs may have something of that name. */
const KEYWORDS = new Set(
  [...[...DECLARATIONS, ...STATEMENTS].map((row) => row.word), 'true', 'false'].filter(
    (word) => word !== 'unused',
  ),
);

/** Whether a name is reserved: a variable, a function or a word of the language. */
export function isReserved(name: string): boolean {
  const folded = name.toLowerCase();
  if (isVariable(folded) || KEYWORDS.has(folded)) return true;
  const own = LANGUAGE_FUNCTIONS.get(folded);
  return own !== undefined && own.ours !== true;
}

/** A function of the language; one that Varnish does not have yields to a symbol of the program. */
export function languageFunction(model: ProgramModel, name: string): LanguageFunction | undefined {
  const found = LANGUAGE_FUNCTIONS.get(name.toLowerCase());
  return found?.ours === true && model.declared.has(name) ? undefined : found;
}
