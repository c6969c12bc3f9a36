// Comparisons with texts in a case that the other side never has.

import type { LintRule } from '../rule.ts';
import { constantText, variable } from '../walk.ts';

export const caseOfText: LintRule = {
  slug: 'case-never-equal',
  severity: 'warning',
  explanation:
    '== and != compare byte by byte. Methods are written in capitals, and clients send host names in lower case (the builtin program makes sure of it), so the other spelling is never met.',
  check(view, report) {
    for (const e of view.expressions()) {
      if (e.k !== 'binary' || (e.op !== '==' && e.op !== '!=')) continue;
      const name = variable(e.left);
      const text = constantText(e.right);
      if (name === null || text === null) continue;
      if (/^(?:req|bereq)\.method$/.test(name) && /[a-z]/.test(text)) {
        report(e.right.span, `No method is written "${text}".`, `Write "${text.toUpperCase()}".`);
      }
      if (/^(?:req|bereq)\.http\.host$/.test(name) && /[A-Z]/.test(text)) {
        report(e.right.span, `Host is compared with capitals.`, `Write "${text.toLowerCase()}".`);
      }
      if (/^(?:req|bereq)\.http\.host$/.test(name) && text.includes('/')) {
        report(e.right.span, 'Host holds a name and a port: neither scheme nor path.');
      }
      if (/^(?:req|bereq)\.url$/.test(name) && text !== '' && text !== '*' && !text.startsWith('/')) {
        report(e.right.span, `${name} begins with "/": it is never "${text}".`);
      }
    }
  },
};
