// Rules about the states of a program and the builtin program after them.

import type { Block, Statement } from '../../ast.ts';
import type { ProgramView } from '../program-view.ts';
import type { LintRule, Report } from '../rule.ts';
import { calledName, expressions, nameOf, ownExpressions, usesVariable } from '../walk.ts';

/** Changes of bereq after the request was sent. */
export const bereqAfterFetch: LintRule = {
  slug: 'bereq-after-fetch',
  severity: 'warning',
  explanation:
    'In vcl_backend_response and vcl_backend_error the request has been sent already: a change of bereq reaches the backend only if the fetch is tried again with return (retry). Set it in vcl_backend_fetch.',
  check(view, report) {
    for (const state of ['backend_response', 'backend_error']) {
      let retries = false;
      for (const { statement } of view.statements(state)) {
        if (statement.k === 'return' && statement.action?.text === 'retry') retries = true;
      }
      if (retries) continue;
      const read = new Set<string>();
      for (const { statement } of view.statements(state)) {
        const values =
          statement.k === 'set'
            ? [statement.value]
            : statement.k === 'unset'
              ? []
              : ownExpressions(statement);
        for (const e of values.flatMap((v) => [...expressions(v)])) if (e.k === 'path') read.add(nameOf(e));
      }
      for (const { statement } of view.statements(state)) {
        if (statement.k !== 'set' && statement.k !== 'unset') continue;
        const name = nameOf(statement.target);
        if (!/^bereq\.(?:http\.|url$|method$|backend$)/.test(name)) continue;
        // A value that the state itself reads is not meant for the backend.
        if (!read.has(name)) report(statement.target.span, `${name} is changed after the request was sent.`);
      }
    }
  },
};

const COUNTERS: Readonly<Record<string, string>> = { restart: 'req.restarts', retry: 'bereq.retries' };
const STATES = ['recv', 'miss', 'hit', 'pass', 'deliver', 'synth', 'backend_response', 'backend_error'];

/** return (restart) and return (retry) limited only by max_restarts and max_retries. */
export const restartUnguarded: LintRule = {
  slug: 'restart-unguarded',
  severity: 'warning',
  explanation:
    'A restarted request meets the same condition again, until max_restarts (or max_retries) ends it with a 503. Test req.restarts (bereq.retries) in the condition, or change what it tests.',
  check(view, report) {
    const changed = new Set<string>();
    for (const { statement } of view.statements()) {
      if (statement.k === 'set' || statement.k === 'unset')
        changed.add(nameOf(statement.target).toLowerCase());
    }
    const reported = new Set<unknown>();
    for (const state of STATES) {
      for (const { statement, guards, block, index } of view.statements(state)) {
        const action = statement.k === 'return' ? (statement.action?.text ?? '') : '';
        const counter = COUNTERS[action];
        if (counter === undefined || reported.has(statement) || view.mentions(state, counter)) continue;
        // The request is changed, or the condition tests something that the program sets.
        if (
          block
            .slice(0, index)
            .some((s) => s.k === 'set' || s.k === 'unset' || s.k === 'action' || s.k === 'call')
        )
          continue;
        if ([...changed].some((name) => guards.some((guard) => usesVariable(guard, name)))) continue;
        reported.add(statement);
        report(statement.span, `return (${action}) without a test of ${counter}.`);
      }
    }
  },
};

/** A state declared twice in one file. */
export const stateInParts: LintRule = {
  slug: 'state-in-parts',
  severity: 'info',
  explanation:
    'Parts of one state run one after the other, as includes are meant to. In one file the second part is easily taken for the whole of it, and a return in the first skips it.',
  check(view, report) {
    for (const sub of view.subs.values()) {
      const files = new Set<unknown>();
      for (const part of sub.parts) {
        if (files.has(part.name.span.file))
          report(part.name.span, `${sub.name} has an earlier part in this file.`);
        files.add(part.name.span.file);
      }
    }
  },
};

const PAGES = [
  { state: 'synth', answer: 'resp' },
  { state: 'backend_error', answer: 'beresp' },
] as const;
const WRITTEN = ['http.content-type', 'http.retry-after', 'body'] as const;

/** Assignments that are not yet overwritten. */
type Live = ReadonlySet<Statement>;
const NONE: Live = new Set();

/** Data flow of one variable through a sub. */
class Follower {
  private readonly view: ProgramView;
  private readonly variable: string;
  private readonly isBody: boolean;
  /** Assignments live at bare returns of the called sub. */
  private returned: Statement[] = [];

  constructor(view: ProgramView, variable: string) {
    this.view = view;
    this.variable = variable;
    this.isBody = variable.endsWith('.body');
  }

  /** Assignments live after a sub; null if its end is unreachable. */
  through(name: string, live: Live): Live | null {
    const sub = this.view.subs.get(name);
    if (sub === undefined) return live;
    const outer = this.returned;
    this.returned = [];
    let now: Live | null = live;
    for (const part of sub.parts) if (now !== null) now = this.after(part.body, now);
    const back = this.returned;
    this.returned = outer;
    return now === null && back.length === 0 ? null : new Set([...(now ?? NONE), ...back]);
  }

  private after(block: Block, live: Live): Live | null {
    let now: Live | null = live;
    for (const s of block) {
      if (now === null) return null;
      now = this.step(s, now);
    }
    return now;
  }

  private step(s: Statement, live: Live): Live | null {
    switch (s.k) {
      case 'set':
        if (nameOf(s.target) !== this.variable) return live;
        // `+=` keeps the previous value.
        return new Set(s.op === '=' ? [s] : [...live, s]);
      case 'unset':
        return nameOf(s.target) === this.variable ? NONE : live;
      case 'action':
        return this.isBody && calledName(s.call) === 'synthetic' ? new Set([s]) : live;
      case 'return':
        if (s.action === null) this.returned.push(...live);
        return null;
      case 'call':
        return s.value === null ? this.through(nameOf(s.target), live) : live;
      case 'block':
        return this.after(s.body, live);
      case 'if': {
        const ways = s.branches.map(({ body }) => this.after(body, live));
        ways.push(s.otherwise === null ? live : this.after(s.otherwise, live));
        const open = ways.filter((way) => way !== null);
        return open.length === 0 ? null : new Set(open.flatMap((way) => [...way]));
      }
      default:
        return live;
    }
  }
}

function inPage(view: ProgramView, state: string, variable: string, report: Report): void {
  const follower = new Follower(view, variable);
  const own = follower.through(`vcl_${state}`, NONE);
  // The builtin part of the state calls this sub, to which the program may have added.
  const live = own === null ? null : follower.through(`vcl_builtin_${state}`, own);
  for (const s of live ?? NONE) {
    report(
      s.span,
      `${variable} is set, and vcl_${state} continues in the builtin program, which sets it again.`,
      `Write return (deliver) at the end of vcl_${state}, after the whole page is set.`,
    );
  }
}

/** Settings of a synthetic page that the builtin program overwrites. Only paths that reach the end of the sub
 * count: return (deliver) skips the builtin program. */
export const overwrittenByBuiltin: LintRule = {
  slug: 'overwritten-by-builtin',
  severity: 'warning',
  explanation:
    'Without return (deliver) the builtin vcl_synth and vcl_backend_error follow and write the whole page: Content-Type, Retry-After (5 seconds) and the body. What was set before that never reaches a client.',
  check(view, report) {
    for (const { state, answer } of PAGES)
      for (const name of WRITTEN) inPage(view, state, `${answer}.${name}`, report);
  },
};

/** Its names in Varnish and here. */
const KNOWN = ['X-Varnish', 'X-Proxy-Id'];

/** The header of transaction ids under a name that it does not have here. */
export const idHeaderName: LintRule = {
  slug: 'id-header-name',
  severity: 'warning',
  explanation:
    'Varnish sends transaction ids in X-Varnish; here the parameter id_header names the header, X-Proxy-Id by default. Unsetting the other name removes nothing, and a test of it is never true. Use the name that is set here, or start the daemon with -p id_header=X-Varnish.',
  check(view, report) {
    const wrong = KNOWN.filter((name) => name.toLowerCase() !== view.idHeader.toLowerCase());
    for (const { statement } of view.statements()) {
      for (const own of ownExpressions(statement)) {
        for (const e of expressions(own)) {
          if (e.k !== 'path') continue;
          const field = /^\w+\.http\.(.+)$/.exec(nameOf(e))?.[1];
          const name = wrong.find((w) => w.toLowerCase() === field);
          if (name === undefined) continue;
          report(
            e.span,
            `Transaction ids are sent in ${view.idHeader} here, not in ${name}.`,
            `Write ${view.idHeader}, or set the parameter id_header to ${name}.`,
          );
        }
      }
    }
  },
};
