// Statements after a return, and parts of a state after a part that always returns.

import type { Block } from '../../ast.ts';
import type { ProgramView } from '../program-view.ts';
import type { LintRule, Report } from '../rule.ts';
import { statements } from '../walk.ts';

function inBlock(view: ProgramView, block: Block, report: Report): void {
  const end = block.findIndex((s) => view.ends([s]));
  const dead = end < 0 ? undefined : block[end + 1];
  if (dead !== undefined) report(dead.span, 'This is never reached: everything before it returns.');
}

export const unreachableCode: LintRule = {
  slug: 'unreachable-code',
  severity: 'warning',
  explanation:
    'A return ends the state. What stands behind it, or in a later part of the same sub, never runs and is easily taken for working code.',
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
        inBlock(view, part.body, report);
        for (const { statement } of statements(part.body)) {
          if (statement.k === 'block') inBlock(view, statement.body, report);
          if (statement.k !== 'if') continue;
          for (const b of statement.branches) inBlock(view, b.body, report);
          if (statement.otherwise !== null) inBlock(view, statement.otherwise, report);
        }
        ended = sub.name.startsWith('vcl_') && view.ends(part.body);
      }
    }
  },
};
