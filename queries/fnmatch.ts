// Shell patterns as in fnmatch(3): * ? [set] and backslash, with the three flags of std.fnmatch. The only glob
// matcher: for programs, file names, counters and names in admin commands. Time is bounded by the product of both
// lengths: only the last star is backtracked to. Never throws: an unterminated set is a literal bracket, and a
// reversed range is empty.

const SLASH = 47;

/** Matches a whole name; dots and slashes are ordinary. */
export function matchesGlob(glob: string, name: string): boolean {
  return fnmatch(glob, name, false, false, false);
}

/** `pathname`: "/" only matches itself. `noescape`: backslash is ordinary. `period`: a leading dot too. */
export function fnmatch(
  pattern: string,
  subject: string,
  pathname: boolean,
  noescape: boolean,
  period: boolean,
): boolean {
  let p = 0;
  let s = 0;
  let starP = -1;
  let starS = -1;
  const leadingDot = (i: number): boolean =>
    period && subject[i] === '.' && (i === 0 || (pathname && subject.charCodeAt(i - 1) === SLASH));
  for (;;) {
    if (p < pattern.length && pattern[p] === '*') {
      if (leadingDot(s)) return false;
      starP = ++p;
      starS = s;
      continue;
    }
    if (s >= subject.length) return p >= pattern.length;
    const after = p < pattern.length ? one(pattern, p, subject, s, pathname, noescape, leadingDot(s)) : -1;
    if (after >= 0) {
      p = after;
      s++;
      continue;
    }
    if (starP < 0 || (pathname && subject.charCodeAt(starS) === SLASH)) return false;
    starS++;
    s = starS;
    p = starP;
  }
}

/** Matches one subject character; returns the next pattern position or -1. */
function one(
  pattern: string,
  p: number,
  subject: string,
  s: number,
  pathname: boolean,
  noescape: boolean,
  dot: boolean,
): number {
  const c = subject.charAt(s);
  const special = (pathname && c === '/') || dot;
  const q = pattern.charAt(p);
  if (q === '?') return special ? -1 : p + 1;
  if (q === '[') {
    const set = bracket(pattern, p, c, noescape);
    if (set !== null) return set.hit && !special ? set.next : -1;
  }
  // A trailing backslash matches nothing.
  if (q === '\\' && !noescape) return p + 1 < pattern.length && pattern[p + 1] === c ? p + 2 : -1;
  return q === c ? p + 1 : -1;
}

const CLASSES: Record<string, RegExp> = {
  alpha: /[A-Za-z]/,
  digit: /\d/,
  alnum: /[A-Za-z0-9]/,
  upper: /[A-Z]/,
  lower: /[a-z]/,
  space: /[ \t\n\v\f\r]/,
  blank: /[ \t]/,
  punct: /[!-/:-@[-`{-~]/,
  xdigit: /[0-9A-Fa-f]/,
  cntrl: /[\0-\x1f\x7f]/,
  print: /[ -~]/,
  graph: /[!-~]/,
};

function bracket(
  pattern: string,
  start: number,
  c: string,
  noescape: boolean,
): { hit: boolean; next: number } | null {
  let i = start + 1;
  const negate = pattern[i] === '!' || pattern[i] === '^';
  if (negate) i++;
  let hit = false;
  let first = true;
  for (;;) {
    if (i >= pattern.length) return null;
    let lo = pattern.charAt(i);
    if (lo === ']' && !first) return { hit: hit !== negate, next: i + 1 };
    first = false;
    if (lo === '[' && pattern[i + 1] === ':') {
      const end = pattern.indexOf(':]', i);
      const cls = end < 0 ? undefined : CLASSES[pattern.slice(i + 2, end)];
      if (cls !== undefined) {
        if (cls.test(c)) hit = true;
        i = end + 2;
        continue;
      }
    }
    if (lo === '[' && (pattern[i + 1] === '=' || pattern[i + 1] === '.')) {
      // An equivalence class or a collating symbol: in the C locale a single character.
      const mark = pattern.charAt(i + 1);
      if (pattern[i + 3] === mark && pattern[i + 4] === ']') {
        if (pattern[i + 2] === c) hit = true;
        i += 5;
        continue;
      }
    }
    if (lo === '\\' && !noescape && i + 1 < pattern.length) lo = pattern.charAt(++i);
    i++;
    let hi = lo;
    if (pattern[i] === '-' && i + 1 < pattern.length && pattern[i + 1] !== ']') {
      hi = pattern.charAt(++i);
      if (hi === '\\' && !noescape) hi = pattern.charAt(++i);
      i++;
    }
    if (lo <= c && c <= hi) hit = true;
  }
}
