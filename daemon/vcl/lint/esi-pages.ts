// Where a program has bodies parsed for edge-side includes, as the rules about them ask.

import type { Statement } from '../ast.ts';
import type { ProgramView } from './program-view.ts';
import { type At, isNought, nameOf } from './walk.ts';

function switchesEsiOn(s: Statement): boolean {
  return s.k === 'set' && nameOf(s.target) === 'beresp.do_esi' && !isNought(s.value);
}

/** Statements that have a response parsed, those of called subs included. */
export function esiPages(view: ProgramView): At[] {
  return [...view.statements('backend_response')].filter(({ statement }) => switchesEsiOn(statement));
}
