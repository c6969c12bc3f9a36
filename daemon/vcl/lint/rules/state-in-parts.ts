// A state declared twice in one file.

import type { LintRule } from '../rule.ts';

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
