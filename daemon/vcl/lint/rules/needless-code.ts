// Rules about code without effect.

import type { Block, Statement } from '../../ast.ts';
import type { ProgramView } from '../program-view.ts';
import type { LintRule, Report } from '../rule.ts';
import { blocks, expressions, nameOf, ownExpressions, statements, variable } from '../walk.ts';

/** Whether a statement neither reads nor changes a variable. */
function leavesAlone(s: Statement, name: string): boolean {
  if (s.k !== 'set' && s.k !== 'unset' && s.k !== 'action') return false;
  return !ownExpressions(s).some((e) =>
    [...expressions(e)].some((x) => x.k === 'path' && nameOf(x) === name),
  );
}

function inBlock(block: Block, report: Report): void {
  for (const [i, s] of block.entries()) {
    if (s.k !== 'unset' && s.k !== 'set') continue;
    const name = nameOf(s.target);
    for (const later of block.slice(i + 1)) {
      if (later.k === 'unset' && nameOf(later.target) === name) {
        report(
          later.span,
          s.k === 'unset' ? `${name} was unset already.` : `${name} was set just before, to no effect.`,
        );
        break;
      }
      if (!leavesAlone(later, name)) break;
    }
  }
}

/** A variable unset twice, or set and discarded, with no use between. */
export const doubleUnset: LintRule = {
  slug: 'double-unset',
  severity: 'warning',
  explanation:
    'One unset removes all headers of that name. A second one, or a set before it, does nothing: often one of the two was meant for another header.',
  check(view, report) {
    for (const sub of view.subs.values()) {
      for (const part of sub.parts) {
        for (const block of blocks(part.body)) inBlock(block, report);
      }
    }
  },
};

/** Empty branches. */
export const emptyBranch: LintRule = {
  slug: 'empty-branch',
  severity: 'info',
  explanation: 'The condition has no effect. Remove it, invert it, or write the missing code.',
  check(view, report) {
    for (const { statement } of view.statements()) {
      if (statement.k !== 'if') continue;
      const followed = statement.otherwise !== null;
      statement.branches.forEach((b, i) => {
        // An empty branch that prevents later ones has a purpose.
        const last = i === statement.branches.length - 1 && !followed;
        if (b.body.length === 0 && last) report(b.cond.span, 'The body of this condition is empty.');
      });
    }
  },
};

function overwrittenIn(block: Block, report: Report): void {
  for (const [i, s] of block.entries()) {
    if (s.k !== 'set' || s.op !== '=') continue;
    const name = nameOf(s.target);
    for (const later of block.slice(i + 1)) {
      if (later.k !== 'set' && later.k !== 'unset') break;
      const same = nameOf(later.target) === name;
      const reads =
        later.k === 'set' &&
        ownExpressions(later)
          .slice(1)
          .some((e) => [...expressions(e)].some((x) => x.k === 'path' && nameOf(x) === name));
      if (reads || later.k === 'unset') break;
      if (!same) continue;
      if (later.op === '=') report(s.span, `${name} is set again before anything reads it.`);
      break;
    }
  }
}

/** A value that is overwritten before it is read. */
export const overwrittenSet: LintRule = {
  slug: 'overwritten-set',
  severity: 'warning',
  explanation:
    'Only the last value counts. Either one of the two lines is left over, or one was meant for another variable.',
  check(view, report) {
    for (const sub of view.subs.values()) {
      for (const part of sub.parts) {
        for (const block of blocks(part.body)) overwrittenIn(block, report);
      }
    }
  },
};

/** set x = x. */
export const selfAssignment: LintRule = {
  slug: 'self-assignment',
  severity: 'info',
  explanation: 'Setting a variable to itself has no effect; one of the two names is probably a mistake.',
  check(view, report) {
    for (const { statement } of view.statements()) {
      if (statement.k !== 'set' || statement.op !== '=') continue;
      // Setting a header to itself joins its lines, and makes an unset one empty: some do that on purpose.
      const name = nameOf(statement.target);
      if (variable(statement.value) === name) report(statement.span, `${name} is set to itself.`);
    }
  },
};

function unreachableIn(view: ProgramView, block: Block, report: Report): void {
  const end = block.findIndex((s) => view.ends([s]));
  const dead = end < 0 ? undefined : block[end + 1];
  if (dead !== undefined) report(dead.span, 'This is never reached: everything before it returns.');
}

/** Statements after a return, and parts of a state after one that always returns. */
export const unreachableCode: LintRule = {
  slug: 'unreachable-code',
  severity: 'warning',
  explanation:
    'A return ends the state. Code after it, or in a later part of the same sub, never runs and is easily mistaken for working code.',
  check(view, report) {
    for (const sub of view.subs.values()) {
      let ended = false;
      for (const part of sub.parts) {
        if (ended) {
          report(
            part.name.span,
            `This part of ${sub.name} is never reached: an earlier part always returns.`,
          );
          continue;
        }
        unreachableIn(view, part.body, report);
        for (const { statement } of statements(part.body)) {
          if (statement.k === 'block') unreachableIn(view, statement.body, report);
          if (statement.k !== 'if') continue;
          for (const b of statement.branches) unreachableIn(view, b.body, report);
          if (statement.otherwise !== null) unreachableIn(view, statement.otherwise, report);
        }
        ended = sub.name.startsWith('vcl_') && view.ends(part.body);
      }
    }
  },
};

/** Extensions that are imported and never called. */
export const unusedImport: LintRule = {
  slug: 'unused-import',
  severity: 'info',
  explanation:
    'An import loads the extension and notifies it of every load of this program. Remove it if nothing uses it.',
  check(view, report) {
    const used = new Set<string>();
    for (const e of view.expressions()) if (e.k === 'path') used.add(e.parts[0]?.text ?? '');
    for (const { statement } of view.statements()) {
      if (statement.k === 'call') used.add(statement.target.parts[0]?.text ?? '');
    }
    for (const d of view.all('import')) {
      const name = d.as ?? d.module;
      if (!used.has(name.text)) report(d.span, `Nothing uses ${name.text}.`);
    }
  },
};
