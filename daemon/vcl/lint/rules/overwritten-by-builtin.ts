// What a program says of its own error pages, where the builtin program then makes the page: it writes these fields anew.
//
// Only ways on which the sub comes to its end count: with return (deliver) the builtin program has no say.

import type { Block, Statement } from '../../ast.ts';
import type { ProgramView } from '../program-view.ts';
import type { LintRule, Report } from '../rule.ts';
import { calledName, nameOf } from '../walk.ts';

const PAGES = [
  { state: 'synth', answer: 'resp' },
  { state: 'backend_error', answer: 'beresp' },
] as const;
const WRITTEN = ['http.content-type', 'http.retry-after', 'body'] as const;

/** Statements that set something, of which nothing else has been set since. */
type Live = ReadonlySet<Statement>;
const NONE: Live = new Set();

/** Follows one variable through a sub. */
class Follower {
  private readonly view: ProgramView;
  private readonly variable: string;
  private readonly isBody: boolean;
  /** What bare returns of the sub that is called have brought back to its caller. */
  private returned: Statement[] = [];

  constructor(view: ProgramView, variable: string) {
    this.view = view;
    this.variable = variable;
    this.isBody = variable.endsWith('.body');
  }

  /** What is live after a sub; null when it never comes to its end. */
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
        // More of it: what was there before still counts.
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
  // The builtin part of the state calls this one, which a program may have begun.
  const live = own === null ? null : follower.through(`vcl_builtin_${state}`, own);
  for (const s of live ?? NONE) {
    report(
      s.span,
      `${variable} is set, and vcl_${state} goes on to the builtin program, which sets it again.`,
      `Write return (deliver) at the end of vcl_${state}, after the whole page is set.`,
    );
  }
}

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
