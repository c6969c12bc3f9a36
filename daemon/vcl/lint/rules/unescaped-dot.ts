// Dots that stand for any character where a dot was meant.

import type { LintRule } from '../rule.ts';
import { variable } from '../walk.ts';

/** Offsets of dots in a pattern that are neither escaped, nor in a class, nor repeated. */
function bareDots(pattern: string): number[] {
  const out: number[] = [];
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i];
    if (c === '\\') i++;
    else if (inClass) inClass = c !== ']';
    else if (c === '[') {
      inClass = true;
      if (pattern[i + 1] === '^') i++;
      if (pattern[i + 1] === ']') i++;
    } else if (c === '.' && !/[*+?{]/.test(pattern[i + 1] ?? '')) out.push(i);
  }
  return out;
}

const WORD = /[A-Za-z0-9-]/;
const EXTENSION =
  /^\.(?:\(\?:|\()?(?:png|jpe?g|gif|webp|svg|ico|css|js|woff2?|ttf|mp4|pdf|zip|html?|php|xml|json)\b/;

export const unescapedDot: LintRule = {
  slug: 'unescaped-dot',
  severity: 'warning',
  explanation:
    'In a regular expression a dot stands for any character: "www.example.com" also matches "wwwXexample.com", which anyone may register. Write \\. for a dot.',
  check(view, report) {
    for (const { pattern, span, subject } of view.matches()) {
      const name = variable(subject) ?? '';
      const host = /^(?:req|bereq)\.http\.(?:host|referer|origin)$/.test(name);
      const url = /^(?:req|bereq)\.url$/.test(name);
      if (!host && !url) continue;
      const dot = bareDots(pattern).find((i) =>
        host
          ? WORD.test(pattern[i + 1] ?? '') &&
            (WORD.test(pattern[i - 1] ?? '') || /[)\]*+^]/.test(pattern[i - 1] ?? ''))
          : EXTENSION.test(pattern.slice(i)),
      );
      if (dot !== undefined)
        report(
          span,
          `The dot before "${/^[A-Za-z0-9-]+|^.{0,12}/.exec(pattern.slice(dot + 1))?.[0]}" matches any character.`,
        );
    }
  },
};
