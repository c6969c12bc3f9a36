// Regular expressions that cannot match: by their own anchors, or by what their subject can hold.

import type { Node } from '../../../../queries/regex/pattern-ast.ts';
import { isAnchored, mayBeginWith, neverMatches, shapeOf } from '../regex-shape.ts';
import type { LintRule } from '../rule.ts';
import { variable } from '../walk.ts';

/** What a subject's values look like, and why the pattern is none of them; null when it may be one. */
function impossible(subject: string | null, pattern: string, shape: Node): string | null {
  if (subject === 'req.url' || subject === 'bereq.url') {
    if (isAnchored(shape) && !mayBeginWith(shape, '/') && !mayBeginWith(shape, '*')) {
      return `${subject} begins with "/", never with what this demands.`;
    }
  }
  if (subject === 'req.http.host' || subject === 'bereq.http.host') {
    if (/^\^?(?:\(\?[a-z]+\))?https?:/.test(pattern)) return 'Host holds a name and a port, no scheme.';
    if (/[A-Za-z0-9]\\?\/(?![^[]*\])/.test(pattern)) return 'Host holds a name and a port, no path.';
  }
  if (subject === 'req.method' || subject === 'bereq.method') {
    if (/^\^?\(?[a-z|]+\)?\$?$/.test(pattern)) return 'Methods are written in capitals.';
  }
  return null;
}

export const regexNeverMatches: LintRule = {
  slug: 'regex-never-matches',
  severity: 'warning',
  explanation:
    'The condition is always false (with !~ always true): ^ stands behind something that must be matched first, $ before something that must follow, or the expression asks for text that its subject never holds.',
  check(view, report) {
    for (const { pattern, span, subject } of view.matches()) {
      const shape = shapeOf(pattern);
      if (shape === null) continue;
      if (neverMatches(shape)) {
        report(span, 'This expression never matches: its anchors contradict what stands around them.');
        continue;
      }
      const why = impossible(variable(subject), pattern, shape);
      if (why !== null) report(span, `This expression never matches: ${why}`);
    }
  },
};
