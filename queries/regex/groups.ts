// Groups after an opening parenthesis: capturing, named, atomic, lookaround, branch reset, conditional groups, calls
// and (*…). Backtracking verbs and callouts are rejected by name; the bodies are parsed by the caller.

import type { Condition, Node } from './pattern-ast.ts';
import { fixedLength } from './pattern-ast.ts';
import type { Flags, PatternReader } from './pattern-reader.ts';
import { groupCall, numberedCondition } from './references.ts';

/** Parses alternatives up to a closing parenthesis or the end. */
export type Body = (flags: Flags) => Node;

/** (*name:…) spellings of groups. */
const SPELLED: Readonly<Record<string, string>> = {
  pla: '=',
  positive_lookahead: '=',
  nla: '!',
  negative_lookahead: '!',
  plb: '<=',
  positive_lookbehind: '<=',
  nlb: '<!',
  negative_lookbehind: '<!',
  atomic: '>',
};

const INLINE = /(\^?)([imsxnJU]*)(?:-([imsxnJU]*))?/y;

/** Flags of (?i), (?i-s:, (?^…; the cursor stays at their end. Null if there are none. */
export function inlineFlags(p: PatternReader, flags: Flags): Flags | null {
  const start = p.at;
  const m = p.take(INLINE) as RegExpExecArray;
  if (p.peek() !== ')' && p.peek() !== ':') {
    p.at = start;
    return null;
  }
  const [, caret, on = '', off = ''] = m;
  if (caret === '^' && m[3] !== undefined) p.fail('invalid hyphen in option setting', start);
  const out: { -readonly [K in keyof Flags]: Flags[K] } =
    caret === '^'
      ? { ...flags, caseless: false, multiline: false, dotAll: false, extended: 0, noCapture: false }
      : { ...flags };
  for (const [letters, value] of [
    [on, true],
    [off, false],
  ] as const) {
    for (const letter of letters) {
      if (letter === 'i') out.caseless = value;
      else if (letter === 'm') out.multiline = value;
      else if (letter === 's') out.dotAll = value;
      else if (letter === 'n') out.noCapture = value;
      else if (letter === 'U') out.ungreedy = value;
      else if (letter === 'J') out.sameNames = value;
      else out.extended = value ? (letters.includes('xx') ? 2 : 1) : 0;
    }
  }
  return out;
}

/** A body as an item of its own: its alternatives are separate from the surrounding ones, and it can be repeated even
 * if it is an assertion. */
function sealed(n: Node): Node {
  return n.t === 'set' || n.t === 'cat' ? n : { t: 'cat', items: [n] };
}

/** A group; the cursor is after its parenthesis at `at`. */
export function group(p: PatternReader, flags: Flags, body: Body, at: number): Node {
  const close = (n: Node): Node => {
    if (!p.eat(')')) p.fail('missing closing parenthesis');
    return n;
  };
  if (p.eat('*')) return close(starGroup(p, flags, body, at));
  if (!p.eat('?')) {
    if (flags.noCapture) return close(sealed(body(flags)));
    return close(capture(p, flags, body, null, at));
  }
  const named = p.take(/(?:P?<|')(?![=!])([^>')]*)([>']?)/y);
  if (named !== null) {
    checkName(p, named[1] as string, named[0].startsWith("'") ? "'" : '>', named[2] as string, at);
    return close(capture(p, flags, body, named[1] as string, at));
  }
  if (p.eat(':')) return close(sealed(body(flags)));
  if (p.eat('|')) return close(sealed(branchReset(p, flags, body)));
  if (p.eat('(')) return close(conditional(p, flags, body, at));
  const opener = p.take(/>|<?[=!]/y);
  if (opener !== null) return close(opened(p, opener[0], flags, body, at));
  const called = groupCall(p, flags, at);
  if (called !== null) return called;
  const inner = inlineFlags(p, flags);
  if (inner !== null && p.eat(':')) return close(sealed(body(inner)));
  return refuse(p, at);
}

function capture(p: PatternReader, flags: Flags, body: Body, name: string | null, at: number): Node {
  const index = p.newGroup();
  if (name !== null) p.nameGroup(name, index, flags, at);
  const node: Node = { t: 'group', item: body(flags), index };
  if (p.bodies.has(index)) p.sharedNumbers = true;
  else p.bodies.set(index, node);
  return node;
}

function checkName(p: PatternReader, name: string, quote: string, end: string, at: number): void {
  const start = p.at - end.length - name.length;
  if (name === '') p.fail('subpattern name expected', at, start);
  if (/^\d/.test(name)) p.fail('subpattern name must start with a non-digit', at, start);
  if (!/^\w+$/.test(name) || end !== quote) {
    const word = /^\w*/.exec(name)?.[0] ?? '';
    p.fail('syntax error in subpattern name (missing terminator?)', at, start + word.length);
  }
}

/** Atomic groups and lookarounds, by the sign after the question mark. */
function opened(p: PatternReader, sign: string, flags: Flags, body: Body, at: number): Node {
  if (sign === '>') return { t: 'atomic', item: body(flags) };
  p.lookDepth++;
  const item = body(flags);
  p.lookDepth--;
  const ahead = !sign.startsWith('<');
  if (!ahead) {
    p.pending.push(() => {
      for (const branch of item.t === 'alt' ? item.items : [item]) {
        if (fixedLength(branch, p.sharedNumbers ? new Map() : p.bodies) < 0)
          p.fail('lookbehind assertion is not fixed length', at);
      }
    });
  }
  return { t: 'look', item, ahead, negative: sign.endsWith('!') };
}

/** Every alternative of (?|…) numbers its groups from the same start. */
function branchReset(p: PatternReader, flags: Flags, body: Body): Node {
  const start = p.groups;
  let highest = start;
  const around = p.onBranch;
  p.onBranch = () => {
    highest = Math.max(highest, p.groups);
    p.groups = start;
  };
  const node = body(flags);
  p.onBranch = around;
  p.groups = highest;
  return node;
}

function conditional(p: PatternReader, flags: Flags, body: Body, at: number): Node {
  const test = condition(p, flags, body, at);
  const inner = body(flags);
  const branches = inner.t === 'alt' ? inner.items : [inner];
  if (branches.length > 2) p.fail('conditional subpattern contains more than two branches', at);
  if (test.kind === 'never' && branches.length > 1) {
    p.fail('DEFINE subpattern contains more than one branch', at);
  }
  return { t: 'cond', test, yes: branches[0] as Node, no: branches[1] ?? { t: 'empty' } };
}

function condition(p: PatternReader, flags: Flags, body: Body, at: number): Condition {
  const sign = p.take(/\?(<?[=!])/y);
  if (sign !== null) {
    const look = opened(p, sign[1] as string, flags, body, at);
    if (!p.eat(')')) p.fail('missing closing parenthesis');
    return { kind: 'look', look };
  }
  const test = numberedCondition(p, at);
  if (test !== null) return test;
  return p.fail('assertion expected after (?( or (?(?C)', at);
}

/** (*…): named assertions; verbs are rejected by name. */
function starGroup(p: PatternReader, flags: Flags, body: Body, at: number): Node {
  const spelled = p.take(/([a-z_]+):/y);
  if (spelled !== null) {
    const sign = SPELLED[spelled[1] as string];
    if (sign !== undefined) return opened(p, sign, flags, body, at);
    p.fail(`(*${spelled[1]}:…) is not supported`, at);
  }
  if (p.take(/(?:FAIL|F)(?=\))/y) !== null) return { t: 'set', set: new Uint8Array(256) };
  const verb = p.take(/ACCEPT|COMMIT|PRUNE|SKIP|THEN|MARK|(?=:)/y);
  if (verb !== null) p.fail(`the verb (*${verb[0] === '' ? 'MARK' : verb[0]}) is not supported`, at);
  p.take(/\w*/y);
  return p.fail('(*VERB) not recognized or malformed', at);
}

function refuse(p: PatternReader, at: number): never {
  const next = p.peek();
  if (next === 'C') p.fail('callouts (?C) are not supported', at);
  if (/^(?:P|[imnsxJU^-]*)$/.test(p.text.slice(p.at)))
    p.fail('missing closing parenthesis', at, p.text.length);
  if (next === 'P') p.fail('unrecognized character after (?P', at);
  if (next === '<') p.fail('unrecognized character after (?<', at);
  if (next === 'R') p.fail('(?R (recursive pattern call) must be followed by a closing parenthesis', at);
  if (/[+-]/.test(next) && /\d/.test(p.text.charAt(p.at + 1))) p.fail('missing closing parenthesis', at);
  return p.fail('unrecognized character after (? or (?-', at);
}
