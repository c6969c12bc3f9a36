// A variable unset twice, or set and thrown away, with nothing between that could matter.

import type { Block, Statement } from '../../ast.ts';
import type { LintRule, Report } from '../rule.ts';
import { blocks, expressions, nameOf, ownExpressions } from '../walk.ts';

/** Whether a statement leaves a variable as it is and does not look at it. */
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
          s.k === 'unset' ? `${name} was unset already.` : `${name} was set just before, for nothing.`,
        );
        break;
      }
      if (!leavesAlone(later, name)) break;
    }
  }
}

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
