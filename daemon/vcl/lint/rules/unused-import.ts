// Extensions that are imported and never called.

import type { LintRule } from '../rule.ts';

export const unusedImport: LintRule = {
  slug: 'unused-import',
  severity: 'info',
  explanation:
    'An import loads the extension and tells it of every load of this program. Take it out when nothing uses it.',
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
