// Rules about regular expressions, by the tree of the regex compiler and so by the expression that will run.

import { firstBytes } from '../../../../queries/regex/analyse.ts';
import { parseRegex } from '../../../../queries/regex/parse-pattern.ts';
import { canBeEmpty, type Node } from '../../../../queries/regex/pattern-ast.ts';
import type { LintRule } from '../rule.ts';
import { variable } from '../walk.ts';

/** The reason why a pattern cannot match its subject; null if it can. */
function impossible(subject: string | null, pattern: string, shape: Node): string | null {
  if (subject === 'req.url' || subject === 'bereq.url') {
    if (isAnchored(shape) && !mayBeginWith(shape, '/') && !mayBeginWith(shape, '*')) {
      return `${subject} begins with "/", never with what this requires.`;
    }
  }
  if (subject === 'req.http.host' || subject === 'bereq.http.host') {
    if (/^\^?(?:\(\?[a-z]+\))?https?:/.test(pattern)) return 'Host contains a name and a port, no scheme.';
    if (/[A-Za-z0-9]\\?\/(?![^[]*\])/.test(pattern)) return 'Host contains a name and a port, no path.';
  }
  if (subject === 'req.method' || subject === 'bereq.method') {
    if (/^\^?\(?[a-z|]+\)?\$?$/.test(pattern)) return 'Methods are written in capitals.';
  }
  return null;
}

/** Regular expressions that cannot match because of their anchors or of their subject. */
export const regexNeverMatches: LintRule = {
  slug: 'regex-never-matches',
  severity: 'warning',
  explanation:
    'The condition is always false (with !~ always true): ^ follows something that must match first, $ precedes something that must follow, or the expression requires text that its subject never contains.',
  check(view, report) {
    for (const { pattern, span, subject } of view.matches()) {
      const shape = shapeOf(pattern);
      if (shape === null) continue;
      if (neverMatches(shape)) {
        report(span, 'This expression never matches: its anchors contradict the text around them.');
        continue;
      }
      const why = impossible(variable(subject), pattern, shape);
      if (why !== null) report(span, `This expression never matches: ${why}`);
    }
  },
};

/** Alternatives that an earlier one always pre-empts. */
export const shadowedAlternative: LintRule = {
  slug: 'shadowed-alternative',
  severity: 'warning',
  explanation:
    'Alternatives are tried from left to right. One that repeats another, or begins with one at the end of the expression, has no effect; in regsub the shorter text is replaced and the rest stays. Put the longer one first, or remove it.',
  check(view, report) {
    for (const { pattern, span, by } of view.matches()) {
      const shape = shapeOf(pattern);
      if (shape === null) continue;
      const found = shadowed(shape);
      if (found === null) continue;
      const [first, later] = found;
      const what = first === later ? `"${later}" occurs twice` : `"${later}" is never tried after "${first}"`;
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

/** Offsets of unescaped dots outside classes that are not repeated. */
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

/** Unescaped dots used as literals. */
export const unescapedDot: LintRule = {
  slug: 'unescaped-dot',
  severity: 'warning',
  explanation:
    'In a regular expression a dot matches any character: "www.example.com" also matches "wwwXexample.com", which anyone may register. Write \\. for a dot.',
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

const EXTENSION_AT_END = /\\\.(?:\((?:\?:|\?i\)?)?)?[a-z0-9|?]{2,}\)?\$$/i;

/** File extensions matched at the end of the URL, where a query may follow. */
export const extensionIgnoresQuery: LintRule = {
  slug: 'extension-ignores-query',
  severity: 'info',
  explanation:
    'req.url includes the query: "\\.(css|js)$" does not match "/site.css?v=2". End it with (\\?.*)?$ or (\\?|$), or remove the query first.',
  check(view, report) {
    for (const { pattern, span, subject, by } of view.matches()) {
      if (!/^(?:req|bereq)\.url$/.test(variable(subject) ?? '') || by.startsWith('regsub')) continue;
      if (EXTENSION_AT_END.test(pattern)) report(span, 'A URL with a query does not match this.');
    }
  },
};

// Properties of regular expressions: whether one can match at all, how a match must begin, and which alternatives are
// plain words.

/** The tree of a pattern; null if it does not compile, which the compiler reports. */
function shapeOf(pattern: string): Node | null {
  try {
    return parseRegex(pattern).root;
  } catch {
    return null;
  }
}

/** Whether anchors prevent every match: required text before ^ or after $. */
function neverMatches(n: Node): boolean {
  switch (n.t) {
    case 'cat':
      return n.items.some(neverMatches) || anchorsClash(n.items);
    case 'alt':
      return n.items.every(neverMatches);
    case 'group':
    case 'atomic':
      return neverMatches(n.item);
    case 'repeat':
      return n.min > 0 && neverMatches(n.item);
    case 'look':
      return n.ahead && !n.negative && neverMatches(n.item);
    default:
      return false;
  }
}

function anchorsClash(items: readonly Node[]): boolean {
  return items.some((item, i) => {
    if (needs(item, 'start') && items.slice(0, i).some((b) => !canBeEmpty(b))) return true;
    // `$` allows a trailing newline, which no header or URL contains.
    const behind = items.slice(i + 1);
    return (needs(item, 'end') || needs(item, 'end-newline')) && behind.some((b) => !canBeEmpty(b));
  });
}

/** Whether every path through the node passes an anchor of this kind. */
function needs(n: Node, kind: 'start' | 'end' | 'end-newline'): boolean {
  switch (n.t) {
    case 'assert':
      return n.kind === kind;
    case 'cat':
      return n.items.some((i) => needs(i, kind));
    case 'alt':
      return n.items.every((i) => needs(i, kind));
    case 'group':
    case 'atomic':
      return needs(n.item, kind);
    case 'repeat':
      return n.min > 0 && needs(n.item, kind);
    default:
      return false;
  }
}

/** Whether a match can begin only at the start of the subject. */
function isAnchored(n: Node): boolean {
  return needs(n, 'start');
}

/** Whether an anchored match can begin with this character; true if unknown. */
function mayBeginWith(n: Node, char: string): boolean {
  const bytes = firstBytes(n);
  return bytes === null || bytes[char.charCodeAt(0)] === 1;
}

/** The text of a literal node, or null. */
function literal(n: Node): string | null {
  switch (n.t) {
    case 'empty':
      return '';
    case 'set': {
      const bytes = [...n.set.entries()].flatMap(([c, on]) => (on === 1 ? [c] : []));
      // Both cases of a letter count as that letter.
      if (
        bytes.length === 2 &&
        String.fromCharCode(bytes[0] as number).toLowerCase() === String.fromCharCode(bytes[1] as number)
      ) {
        return String.fromCharCode(bytes[1] as number);
      }
      return bytes.length === 1 ? String.fromCharCode(bytes[0] as number) : null;
    }
    case 'cat': {
      let out = '';
      for (const i of n.items) {
        const text = literal(i);
        if (text === null) return null;
        out += text;
      }
      return out;
    }
    default:
      return null;
  }
}

/** Every alternation in a pattern, and whether nothing of the pattern follows it. */
function* alternations(n: Node, last = true): Generator<{ items: readonly Node[]; last: boolean }> {
  switch (n.t) {
    case 'alt':
      yield { items: n.items, last };
      for (const i of n.items) yield* alternations(i, last);
      return;
    case 'cat':
      for (const [i, item] of n.items.entries()) yield* alternations(item, last && i === n.items.length - 1);
      return;
    case 'group':
    case 'atomic':
      yield* alternations(n.item, last);
      return;
    case 'repeat':
    case 'look':
      yield* alternations(n.item, false);
  }
}
