// A value that is replaced before anything could read it.

import type { Block } from '../../ast.ts';
import type { LintRule, Report } from '../rule.ts';
import { blocks, expressions, nameOf, ownExpressions } from '../walk.ts';

function inBlock(block: Block, report: Report): void {
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

export const overwrittenSet: LintRule = {
  slug: 'overwritten-set',
  severity: 'warning',
  explanation:
    'Only the last value counts. Either one of the two lines is left over, or one was meant for another variable.',
  check(view, report) {
    for (const sub of view.subs.values()) {
      for (const part of sub.parts) {
        for (const block of blocks(part.body)) inBlock(block, report);
      }
    }
  },
};
