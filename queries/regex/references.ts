// Back-references and subroutine calls in all their spellings: \1 \g{-1} \k<n> (?P=n), (?R) (?1) (?-1) (?&n) (?P>n)
// \g<n>. Numbers and names may be defined later, so they are resolved at the end of the pattern.

import type { Node } from './pattern-ast.ts';
import type { Flags, PatternReader } from './pattern-reader.ts';

const NAME = '[A-Za-z_]\\w*';

/** A back-reference by number. */
export function backref(p: PatternReader, index: number, flags: Flags, at: number): Node {
  p.captureDependent = true;
  p.pending.push(() => {
    if (index > p.highestGroup || index < 1) p.fail('reference to non-existent subpattern', at);
  });
  return { t: 'backref', index, caseless: flags.caseless };
}

/** A back-reference by name. Of several groups with the name, the first that took part counts. */
function namedBackref(p: PatternReader, name: string, flags: Flags, at: number): Node {
  p.captureDependent = true;
  const caseless = flags.caseless;
  const node: Node = { t: 'cat', items: [] };
  p.pending.push(() => {
    const [first, ...rest] = p.named(name, at) as [number, ...number[]];
    let ref: Node = { t: 'backref', index: rest.pop() ?? first, caseless };
    for (const index of rest.length > 0 || ref.index !== first ? [...rest.reverse(), first] : []) {
      const yes: Node = { t: 'backref', index, caseless };
      ref = { t: 'cond', test: { kind: 'group', index }, yes, no: ref };
    }
    node.items.push(ref);
  });
  return node;
}

/** A subroutine call; `find` returns the group's number at the end of the pattern. */
function call(p: PatternReader, at: number, find: () => number): Node {
  p.captureDependent = true;
  p.recursive = true;
  const node = { t: 'call' as const, index: 0 };
  p.pending.push(() => {
    node.index = find();
    if (node.index > p.highestGroup || node.index < 0) p.fail('reference to non-existent subpattern', at);
  });
  return node;
}

/** An absolute group number; relative ones count from the groups so far. */
function absolute(p: PatternReader, text: string): number {
  const n = Number(text);
  return text.startsWith('-') ? p.groups + 1 + n : text.startsWith('+') ? p.groups + n : n;
}

function callOf(p: PatternReader, id: string, at: number): Node {
  if (/^[-+]?\d+$/.test(id)) {
    const index = absolute(p, id);
    return call(p, at, () => (index < 1 && !/^0+$/.test(id) ? -1 : index));
  }
  return call(p, at, () => p.named(id, at)[0] as number);
}

/** A call after `(?`, up to its closing parenthesis; null if it is none. */
export function groupCall(p: PatternReader, flags: Flags, at: number): Node | null {
  const m = p.take(new RegExp(`(?:(R)|([-+]?\\d+)|(?:&|P>)(${NAME})|P=(${NAME}))\\)`, 'y'));
  if (m === null) return null;
  if (m[4] !== undefined) return namedBackref(p, m[4], flags, at);
  return callOf(p, m[1] !== undefined ? '0' : ((m[2] ?? m[3]) as string), at);
}

/** \g and \k; the cursor is after the letter. */
export function letterReference(p: PatternReader, letter: string, flags: Flags, at: number): Node {
  if (letter === 'k') {
    const m = p.take(new RegExp(`\\{(${NAME})\\}|<(${NAME})>|'(${NAME})'`, 'y'));
    if (m === null) p.fail('\\k is not followed by a braced, angle-bracketed, or quoted name', at);
    return namedBackref(p, (m[1] ?? m[2] ?? m[3]) as string, flags, at);
  }
  const called = p.take(new RegExp(`<([-+]?\\d+|${NAME})>|'([-+]?\\d+|${NAME})'`, 'y'));
  if (called !== null) return callOf(p, (called[1] ?? called[2]) as string, at);
  const m = p.take(new RegExp(`\\{([-+]?\\d+)\\}|([-+]?\\d+)|\\{(${NAME})\\}`, 'y'));
  if (m === null) {
    p.fail('a numbered reference must not be zero, or \\g is not followed by a reference', at);
  }
  if (m[3] !== undefined) return namedBackref(p, m[3], flags, at);
  return backref(p, absolute(p, (m[1] ?? m[2]) as string), flags, at);
}

/** The condition of (?(…)…); the cursor is after both parentheses. Null for a lookaround. */
export function numberedCondition(
  p: PatternReader,
  at: number,
): { kind: 'group' | 'recursion'; index: number } | { kind: 'never' } | null {
  const m = p.take(
    new RegExp(`(?:([-+]?\\d+)|(?:<(${NAME})>|'(${NAME})')|R(\\d*)|R&(${NAME})|(DEFINE)|(${NAME}))\\)`, 'y'),
  );
  if (m === null) return null;
  p.captureDependent = true;
  if (m[6] !== undefined) return { kind: 'never' };
  const recursion = m[4] !== undefined || m[5] !== undefined;
  const name = m[2] ?? m[3] ?? m[5] ?? m[7];
  const test = { kind: recursion ? ('recursion' as const) : ('group' as const), index: 0 };
  if (name !== undefined) {
    p.pending.push(() => {
      test.index = p.named(name, at)[0] as number;
    });
  } else {
    test.index = recursion ? Number(m[4]) : absolute(p, m[1] as string);
    p.pending.push(() => {
      if (test.index > p.highestGroup || (!recursion && test.index < 1)) {
        p.fail('reference to non-existent subpattern', at);
      }
    });
  }
  return test;
}
