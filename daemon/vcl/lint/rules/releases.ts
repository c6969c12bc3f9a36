// Rules about what newer releases of Varnish have changed. Most look at every program: with
// varnish_release=9.0 what they name is a compile error. Those of RELEASE_RULES answer what changes for a program that
// is to follow a newer release (`proxyd --lint --release 9.0`).

import { type ChangeName, RELEASE_CHANGES } from '../../../../protocol/tables/release-changes.ts';
import { STATE_GROUPS } from '../../../../protocol/tables/variables.ts';
import type { Expr, Statement } from '../../ast.ts';
import type { Span } from '../../diagnostics.ts';
import {
  NARROWED_VARIABLES,
  PROTECTED_FIELDS,
  REMOVED_FUNCTIONS,
  REMOVED_VARIABLES,
} from '../../tables/newer-releases.ts';
import type { ProgramView } from '../program-view.ts';
import type { LintRule, Report } from '../rule.ts';
import { calledName, constantText, isZero, nameOf } from '../walk.ts';

/** The row of a change as an explanation. */
function described(change: ChangeName): string {
  const { since, after, why } = RELEASE_CHANGES[change];
  return `Since Varnish ${since}: ${after} ${why}`.replaceAll('`', '');
}

/** A statement that sets or unsets a variable; null for another. */
function target(s: Statement): { name: string; span: Span } | null {
  return s.k === 'set' || s.k === 'unset' ? { name: nameOf(s.target), span: s.target.span } : null;
}

/** Every use of variables by name, as a value or a target; a name that ends in a dot is a prefix. */
function* uses(view: ProgramView, names: readonly string[], state?: string): Generator<Span> {
  const wanted = (name: string): boolean =>
    names.some((n) => name === n || (n.endsWith('.') ? name.startsWith(n) : name.startsWith(`${n}.`)));
  for (const e of view.expressions(state)) {
    if (e.k === 'path' && wanted(nameOf(e).toLowerCase())) yield e.span;
  }
}

/** Content-Length and Transfer-Encoding set or unset. */
export const protectedHeader: LintRule = {
  slug: 'protected-header',
  severity: 'info',
  explanation: described('protectedFields'),
  check(view, report) {
    for (const { statement } of view.statements()) {
      const changed = target(statement);
      const field = /^\w+\.http\.(.*)$/.exec(changed?.name ?? '')?.[1];
      if (changed === null || field === undefined || !PROTECTED_FIELDS.has(field)) continue;
      report(changed.span, `${changed.name} cannot be ${statement.k} in newer releases.`);
    }
  },
};

export const removedFunction: LintRule = {
  slug: 'removed-function',
  severity: 'info',
  explanation: described('removedFunctions'),
  check(view, report) {
    const modules = new Map(view.all('import').map((d) => [(d.as ?? d.module).text, d.module.text]));
    for (const e of view.expressions()) {
      const called = calledName(e);
      if (called === null || e.k !== 'call') continue;
      const [name = '', fn = ''] = called.split('.');
      const instead = REMOVED_FUNCTIONS.get(`${modules.get(name) ?? ''}.${fn}`);
      if (instead !== undefined)
        report(e.callee.span, `${called}() was removed in newer releases.`, `Write: ${instead}`);
    }
  },
};

export const removedVariable: LintRule = {
  slug: 'removed-variable',
  severity: 'info',
  explanation: described('storageHint'),
  check(view, report) {
    for (const [name, { instead }] of REMOVED_VARIABLES) {
      for (const span of uses(view, [name]))
        report(span, `${name} was removed in newer releases.`, `Write: ${instead}`);
    }
  },
};

export const markerElsewhere: LintRule = {
  slug: 'marker-elsewhere',
  severity: 'info',
  explanation: described('markerScopes'),
  check(view, report) {
    const reported = new Set<number>();
    for (const [name, { read }] of NARROWED_VARIABLES) {
      const places = read.split(' ');
      for (const state of STATE_GROUPS.client ?? []) {
        if (places.includes(state)) continue;
        for (const span of uses(view, [name], state)) {
          if (reported.has(span.start)) continue;
          reported.add(span.start);
          report(span, `${name} cannot be read in vcl_${state} in newer releases.`);
        }
      }
    }
  },
};

export const looseGlob: LintRule = {
  slug: 'loose-glob',
  severity: 'info',
  explanation: described('rootedGlobs'),
  check(view, report) {
    for (const span of view.looseGlobs) report(span, 'This path is refused in newer releases.');
  },
};

export const oldName: LintRule = {
  slug: 'old-name',
  severity: 'info',
  explanation: 'Varnish 9.0 calls it req.max_age; req.ttl is a deprecated alias.',
  check(view, report) {
    for (const span of uses(view, ['req.ttl']))
      report(span, 'req.ttl has a newer name.', 'Write: req.max_age');
  },
};

/** Where a program meets a change: its places, none when it does not. */
type Touches = (view: ProgramView) => Iterable<Span>;

/** The state's own sub, or the beginning of the program, if the builtin program has the last word there. */
function builtinDecides(view: ProgramView, state: string): Span[] {
  if (!view.fallsThrough(state)) return [];
  return [view.subs.get(`vcl_${state}`)?.at.span ?? beginning(view)];
}

function beginning({ files, declarations }: ProgramView): Span {
  const [file] = files as [Span['file']];
  return declarations[0]?.span ?? { file, start: 0, end: 1 };
}

/** The same for a sub that the builtin vcl_recv calls. */
function builtinRequestSub(view: ProgramView, name: string): Span[] {
  const own = view.subs.get(name);
  if (own?.parts.some((part) => view.ends(part.body)) === true) return [];
  return builtinDecides(view, 'recv');
}

/** Methods that the builtin program knows. */
const KNOWN = new Set(['GET', 'HEAD', 'PUT', 'POST', 'TRACE', 'OPTIONS', 'DELETE', 'PATCH']);

/** Whether a condition holds for each method that the builtin program does not know: `req.method != "GET" && …`. */
function holdsForUnknown(cond: Expr): boolean {
  if (cond.k === 'paren') return holdsForUnknown(cond.value);
  if (cond.k !== 'binary') return false;
  const { op, left, right } = cond;
  if (op === '&&') return holdsForUnknown(left) && holdsForUnknown(right);
  return (
    op === '!=' &&
    left.k === 'path' &&
    nameOf(left).toLowerCase() === 'req.method' &&
    KNOWN.has(constantText(right) ?? '')
  );
}

/** Whether vcl_recv itself decides about methods that the builtin program does not know. */
function decidesUnknown(view: ProgramView, statement: Statement): boolean {
  if (statement.k !== 'if') return false;
  const [branch] = statement.branches;
  return branch !== undefined && holdsForUnknown(branch.cond) && view.ends(branch.body);
}

function unknownMethods(view: ProgramView): Span[] {
  const parts = view.subs.get('vcl_recv')?.parts ?? [];
  if (parts.some(({ body }) => body.some((statement) => decidesUnknown(view, statement)))) return [];
  return builtinRequestSub(view, 'vcl_req_method');
}

function* returns(view: ProgramView, action: string): Generator<Span> {
  for (const { statement } of view.statements()) {
    if (statement.k === 'return' && statement.action?.text === action) yield statement.action.span;
  }
}

function* settings(view: ProgramView, name: string, isMeant: (s: Statement & { k: 'set' }) => boolean) {
  for (const { statement } of view.statements()) {
    if (statement.k === 'set' && nameOf(statement.target) === name && isMeant(statement))
      yield statement.target.span;
  }
}

/** Where pages are parsed for includes. */
function pages(view: ProgramView): Generator<Span> {
  return settings(view, 'beresp.do_esi', ({ value }) => !isZero(value));
}

function* zeroSettings(view: ProgramView, names: readonly string[]): Generator<Span> {
  for (const name of names) yield* settings(view, name, ({ value }) => isZero(value));
}

/** Acls whose matches are logged, and that do not say whether they are folded. */
function* logged(view: ProgramView): Generator<Span> {
  for (const { flags, name } of view.all('acl')) {
    const isLogged = flags.some((flag) => flag.name === 'log' && flag.on);
    if (isLogged && !flags.some((flag) => flag.name === 'fold')) yield name.span;
  }
}

/** Calls of a function of an extension, whatever name the program imports it by. */
function* calls(view: ProgramView, wanted: string): Generator<Span> {
  const modules = new Map(view.all('import').map((d) => [(d.as ?? d.module).text, d.module.text]));
  for (const e of view.expressions()) {
    const [name = '', fn = ''] = (calledName(e) ?? '').split('.');
    if (e.k === 'call' && `${modules.get(name) ?? ''}.${fn}` === wanted) yield e.callee.span;
  }
}

function* unsets(view: ProgramView, name: string): Generator<Span> {
  for (const { statement } of view.statements()) {
    if (statement.k === 'unset' && nameOf(statement.target) === name) yield statement.target.span;
  }
}

/** Every use of variables as a value. */
function* reads(view: ProgramView, names: readonly string[]): Generator<Span> {
  const targets = new Set<Span>();
  for (const { statement } of view.statements()) {
    const changed = target(statement);
    if (changed !== null) targets.add(changed.span);
  }
  for (const span of uses(view, names)) if (!targets.has(span)) yield span;
}

/** Sums of a variable and what is no constant text. */
function* sums(view: ProgramView, names: readonly string[]): Generator<Span> {
  for (const e of view.expressions()) {
    if (e.k !== 'binary' || e.op !== '+') continue;
    const sides = [e.left, e.right];
    if (sides.some((side) => constantText(side) !== null)) continue;
    if (sides.some((side) => side.k === 'path' && names.includes(nameOf(side).toLowerCase()))) yield e.span;
  }
}

/** One place of a change that a program meets in very many. */
function* first(places: Generator<Span>): Generator<Span> {
  const { value, done } = places.next();
  if (done !== true) yield value;
}

const VIA = ['req.http.via', 'bereq.http.via', 'beresp.http.via', 'resp.http.via', 'obj.http.via'];
const TIMEOUTS = ['connect', 'first_byte', 'between_bytes'].map((name) => `bereq.${name}_timeout`);
const CONDITIONS = ['bereq.http.if-none-match', 'bereq.http.if-modified-since', 'beresp.was_304'];

function isNoPath(s: Statement & { k: 'set' }): boolean {
  const [first] = leftmost(s.value);
  return first !== undefined && first !== '' && !first.startsWith('/');
}

/** The constant text with which an expression begins, if it does. */
function* leftmost(e: Parameters<typeof constantText>[0]): Generator<string> {
  const text = constantText(e);
  if (text !== null) yield text;
  else if (e.k === 'binary' && e.op === '+') yield* leftmost(e.left);
}

const TOUCHES: Readonly<Partial<Record<ChangeName, Touches>>> = {
  requestVia: (view) => uses(view, VIA),
  idSums: (view) => sums(view, ['req.xid', 'bereq.xid', 'sess.xid']),
  esiLevelInLog: pages,
  foldedAcls: logged,
  unknownMethods,
  targetForm: (view) => settings(view, 'req.url', isNoPath),
  strayContentRange: (view) => uses(view, ['beresp.http.content-range', 'resp.http.content-range']),
  sharedArrivals: (view) => settings(view, 'beresp.ttl', ({ value }) => isZero(value)),
  refreshState: (view) => uses(view, CONDITIONS),
  zeroTimeouts: (view) => zeroSettings(view, TIMEOUTS),
  shownTimeouts: (view) => reads(view, TIMEOUTS),
  pipeTimeouts: (view) => returns(view, 'pipe'),
  openRanges: (view) => uses(view, ['req.http.range', 'bereq.http.range', 'resp.http.content-range']),
  programRange: (view) => settings(view, 'bereq.http.range', () => true),
  softShortens: (view) => calls(view, 'purge.soft'),
  oldModified: (view) => uses(view, ['beresp.http.last-modified']),
  cookieEnd: (view) => calls(view, 'cookie.get_string'),
  emptyBodies: (view) => first(returns(view, 'pass')),
  requestBodyFailures: (view) => calls(view, 'std.cache_req_body'),
  keptBodyDropped: (view) => unsets(view, 'bereq.body'),
  fragmentStatuses: pages,
  depthFails: pages,
};

/** A rule a change that programs can meet: its slug is the change's name. */
export const RELEASE_RULES: readonly LintRule[] = Object.entries(TOUCHES).map(([name, touches]) => {
  const change = name as ChangeName;
  const { since, topic } = RELEASE_CHANGES[change];
  return {
    slug: `release-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    severity: 'warning',
    explanation: described(change),
    check(view: ProgramView, report: Report) {
      for (const span of touches(view)) report(span, `${topic}: has another meaning since Varnish ${since}.`);
    },
  };
});
