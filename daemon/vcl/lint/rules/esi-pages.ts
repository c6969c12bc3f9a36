// Rules about pages of edge-side includes.

import type { Block, Expr, Statement } from '../../ast.ts';
import type { ProgramView } from '../program-view.ts';
import type { LintRule } from '../rule.ts';
import { type At, constantText, isZero, nameOf, statements, variable } from '../walk.ts';

function switchesEsiOn(s: Statement): boolean {
  return s.k === 'set' && nameOf(s.target) === 'beresp.do_esi' && !isZero(s.value);
}

/** Statements that enable ESI parsing of a response, including those in called subs. */
function esiPages(view: ProgramView): At[] {
  return [...view.statements('backend_response')].filter(({ statement }) => switchesEsiOn(statement));
}

/** Content types and URL extensions without markup. A list that also includes text is not flagged. */
const NO_MARKUP =
  /image\b|video\b|audio\b|font\b|\b(?:png|jpe\?g|jpe?g|gif|webp|avif|ico|woff2?|mp4|css|js)\b/i;
const MARKUP = /htm|text\/|xml/i;
const SUBJECTS = ['bereq.url', 'beresp.http.content-type'];

/** Whether a condition holds only for bodies without markup: a match, or a conjunct that is one. */
function isNoMarkup(e: Expr): boolean {
  if (e.k === 'paren') return isNoMarkup(e.value);
  if (e.k !== 'binary') return false;
  if (e.op === '&&') return isNoMarkup(e.left) || isNoMarkup(e.right);
  if ((e.op !== '~' && e.op !== '==') || e.right.k !== 'string') return false;
  const text = e.right.value;
  return SUBJECTS.includes(variable(e.left) ?? '') && NO_MARKUP.test(text) && !MARKUP.test(text);
}

/** Blocks reached only for bodies without markup. */
function* blocksWithoutMarkup(view: ProgramView): Generator<Block> {
  for (const { statement } of view.statements('backend_response')) {
    if (statement.k !== 'if') continue;
    for (const b of statement.branches) if (isNoMarkup(b.cond)) yield b.body;
  }
}

/** ESI parsing of images and other bodies without markup. */
export const esiAnyType: LintRule = {
  slug: 'esi-any-type',
  severity: 'info',
  explanation:
    'beresp.do_esi parses a body for markup while it is fetched. For an image or a script this only logs an error for each fetch (ESI_xmlerror). Test the type: if (beresp.http.Content-Type ~ "^text/html").',
  check(view, report) {
    const pages = esiPages(view);
    const inside = new Set(
      [...blocksWithoutMarkup(view)].flatMap((b) => [...statements(b)].map((at) => at.statement)),
    );
    for (const { statement } of pages)
      if (inside.has(statement))
        report(statement.span, 'Bodies without markup are parsed for ESI here.', undefined, 'warning');
    const sub = view.subs.get('vcl_backend_response');
    if (sub === undefined) return;
    for (const { statement, guards } of view.statementsOf(sub)) {
      // A called sub, or an earlier line, may return for other types.
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

/** Includes of another host, which are sent to the page's own. */
export const esiIncludeHost: LintRule = {
  slug: 'esi-include-host',
  severity: 'info',
  explanation:
    'An include of http://other.example/part is a request with that Host, which goes through vcl_recv like any other: no connection is made to a host because a page names it. The program chooses the backend, and the default one answers for hosts that it does not know. Test req.http.Host where req.esi_level > 0: set req.backend_hint, or refuse with synth(404).',
  check(view, report) {
    const [page] = esiPages(view);
    if (page === undefined || view.mentions('recv', 'req.esi_level')) return;
    for (const { statement, guards } of view.statements('recv')) {
      if (statement.k !== 'set' || guards.length > 0 || nameOf(statement.target) !== 'req.http.host')
        continue;
      if (constantText(statement.value) === null) continue;
      report(
        statement.span,
        'Includes of other hosts are sent to this one.',
        'Do it only where req.esi_level is 0.',
        'warning',
      );
      return;
    }
    if (view.all('backend').length < 2 || view.mentions('recv', 'req.http.host')) return;
    report(
      page.statement.span,
      'vcl_recv never tests the host, so includes of other hosts go where the URL says.',
    );
  },
};

/** ESI pages without caching. */
export const esiPagesPassed: LintRule = {
  slug: 'esi-pages-passed',
  severity: 'info',
  explanation:
    'Fragments are requests like any other. Where vcl_recv passes all of them, a page of twenty fragments is twenty-one requests to backends for each view. Cache at least the fragments (req.esi_level > 0), or the page.',
  check(view, report) {
    if (esiPages(view).length === 0 || view.mentions('recv', 'req.esi_level')) return;
    const sub = view.subs.get('vcl_recv');
    if (sub === undefined) return;
    for (const { statement, guards } of view.statementsOf(sub)) {
      if (statement.k === 'call') return;
      if (statement.k !== 'return') continue;
      const action = statement.action?.text;
      if (action === 'hash') return;
      if (action === 'pass' && guards.length === 0)
        return report(statement.span, 'ESI pages and all their fragments are passed.');
    }
  },
};

/** ESI pages that a Set-Cookie keeps out of the cache. */
export const esiSetCookie: LintRule = {
  slug: 'esi-set-cookie',
  severity: 'info',
  explanation:
    'A page is cut into fragments so that it can be cached while a part of it is personal. With a Set-Cookie the builtin program does not cache it, so it is fetched and parsed for every visitor. Unset beresp.http.Set-Cookie of pages. A fragment cannot set it instead: headers of fragments never reach the client.',
  check(view, report) {
    const [first] = esiPages(view);
    // If the builtin program is skipped, such a page is cached: see set-cookie-cached.
    if (first === undefined || !view.fallsThrough('backend_response')) return;
    if (view.mentions('backend_response', 'beresp.http.set-cookie')) return;
    report(first.statement.span, 'A page that comes with Set-Cookie is not cached.');
  },
};

/** The statement that disables includes for every request, unless another enables them. */
function switchedOff(view: ProgramView, state: string, name: string): At | undefined {
  const sets = [...view.statements(state)].filter(
    ({ statement: s }) => s.k === 'set' && nameOf(s.target) === name,
  );
  if (sets.some(({ statement: s }) => s.k === 'set' && !isZero(s.value))) return undefined;
  const sub = view.subs.get(`vcl_${state}`);
  if (sub === undefined) return undefined;
  for (const at of view.statementsOf(sub)) {
    // After a conditional return, not every request gets here.
    if (at.statement.k === 'return' || at.statement.k === 'call') return undefined;
    if (at.guards.length === 0 && sets.some((s) => s.statement === at.statement)) return at;
  }
  return undefined;
}

/** ESI pages that are parsed but never assembled. */
export const esiSwitchedOff: LintRule = {
  slug: 'esi-switched-off',
  severity: 'warning',
  explanation:
    'beresp.do_esi has pages parsed when they are fetched, resp.do_esi (req.esi in programs of version 4.0) decides at each delivery whether their includes are inserted. If it is always off, clients get the raw markup. Remove one of the two, or make it depend on the request.',
  check(view, report) {
    if (esiPages(view).length === 0) return;
    const at = switchedOff(view, 'deliver', 'resp.do_esi') ?? switchedOff(view, 'recv', 'req.esi');
    if (at !== undefined)
      report(at.statement.span, 'Pages are parsed for ESI, but their includes are never inserted.');
  },
};
