// Alternatives of a regular expression that an earlier one leaves nothing to match.

import type { Node } from '../../../../queries/regex/pattern-ast.ts';
import { alternations, literal, shapeOf } from '../regex-shape.ts';
import type { LintRule } from '../rule.ts';

export const shadowedAlternative: LintRule = {
  slug: 'shadowed-alternative',
  severity: 'warning',
  explanation:
    'Alternatives are tried from left to right. One that repeats another, or begins with one at the end of the expression, is never the one that decides; in regsub the shorter text is replaced and the rest stays. Put the longer one first, or take it out.',
  check(view, report) {
    for (const { pattern, span, by } of view.matches()) {
      const shape = shapeOf(pattern);
      if (shape === null) continue;
      const found = shadowed(shape);
      if (found === null) continue;
      const [first, later] = found;
      const what = first === later ? `"${later}" stands twice` : `"${later}" is never tried after "${first}"`;
      report(span, `${what} in ${by === '~' || by === '!~' ? 'this expression' : `this ${by}`}.`);
    }
  },
};

function shadowed(shape: Node): [string, string] | null {
  for (const { items, last } of alternations(shape)) {
    const seen: string[] = [];
    for (const item of items) {
      const text = literal(item);
      if (text === null) continue;
      const before = seen.find((s) => text === s || (last && s !== '' && text.startsWith(s)));
      if (before !== undefined) return [before, text];
      seen.push(text);
    }
  }
  return null;
}
