// Images and everything else parsed for edge-side includes.

import type { Block, Expr } from '../../ast.ts';
import { esiPages } from '../esi-pages.ts';
import type { ProgramView } from '../program-view.ts';
import type { LintRule } from '../rule.ts';
import { nameOf, statements, variable } from '../walk.ts';

/** Content types, and ends of URLs, of what is no markup. A list of types that has text in it is left alone. */
const NO_MARKUP =
  /image\b|video\b|audio\b|font\b|\b(?:png|jpe\?g|jpe?g|gif|webp|avif|ico|woff2?|mp4|css|js)\b/i;
const MARKUP = /htm|text\/|xml/i;
const SUBJECTS = ['bereq.url', 'beresp.http.content-type'];

/** Whether a condition is true for bodies of such a type alone: a match, or one of several that must all be true. */
function isNoMarkup(e: Expr): boolean {
  if (e.k === 'paren') return isNoMarkup(e.value);
  if (e.k !== 'binary') return false;
  if (e.op === '&&') return isNoMarkup(e.left) || isNoMarkup(e.right);
  if ((e.op !== '~' && e.op !== '==') || e.right.k !== 'string') return false;
  const text = e.right.value;
  return SUBJECTS.includes(variable(e.left) ?? '') && NO_MARKUP.test(text) && !MARKUP.test(text);
}

/** Blocks that only bodies without markup come to. */
function* blocksWithoutMarkup(view: ProgramView): Generator<Block> {
  for (const { statement } of view.statements('backend_response')) {
    if (statement.k !== 'if') continue;
    for (const b of statement.branches) if (isNoMarkup(b.cond)) yield b.body;
  }
}

export const esiAnyType: LintRule = {
  slug: 'esi-any-type',
  severity: 'info',
  explanation:
    'beresp.do_esi has a body read for markup while it is fetched. Of an image or a script nothing comes of it but an error in the log of each fetch (ESI_xmlerror). Ask for the type: if (beresp.http.Content-Type ~ "^text/html").',
  check(view, report) {
    const pages = esiPages(view);
    const inside = new Set(
      [...blocksWithoutMarkup(view)].flatMap((b) => [...statements(b)].map((at) => at.statement)),
    );
    for (const { statement } of pages)
      if (inside.has(statement))
        report(statement.span, 'What comes here is no markup, and is parsed for ESI.', undefined, 'warning');
    const sub = view.subs.get('vcl_backend_response');
    if (sub === undefined) return;
    for (const { statement, guards } of view.statementsOf(sub)) {
      // A sub that is called may return for other types, and so may an earlier line.
      if (statement.k === 'return' || statement.k === 'call') return;
      if (guards.length > 0 || !pages.some((page) => page.statement === statement)) continue;
      const exempted =
        pages.length === 1 &&
        [...view.statements('backend_response')].some(
          ({ statement: s }) => s.k === 'set' && s !== statement && nameOf(s.target) === 'beresp.do_esi',
        );
      if (!exempted) report(statement.span, 'Every body is parsed for ESI, images too.');
      return;
    }
  },
};
