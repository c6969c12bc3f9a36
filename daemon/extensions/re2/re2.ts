// The extension re2: regular expressions in linear time, alone and as sets. Follows libvmod-re2 2.0, its messages included.
// The engine is a port of RE2 to JavaScript (the library re2js).
//
// RE2 can be made to compute for long by a large pattern and a long text together. Both are known before a search begins,
// and one that would cost too much fails the transaction instead of holding up others (pattern.ts).

import type { VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionFunction, ExtensionObject } from '../../contract/extension.ts';
import { programPriv } from '../../contract/priv.ts';
import { byName, row } from '../extension-rows.ts';
import { backref, LastMatch, namedref, remember, type Speaker } from './last-match.ts';
import { MOST_AT_RUN_TIME, mostInstructions, type Options, Pattern } from './pattern.ts';
import { OPTIONS, optionsOf, type RawOptions } from './pattern-options.ts';
import { RecentPatterns } from './recent-patterns.ts';
import { fail, type OperationName, rewrite, searched, shown, type Text } from './rewriting.ts';
import { set } from './set-object.ts';
import { PatternError, quoted } from './syntax.ts';

const VERSION = '2.0.0';

/** Key of the functions' last match in a task, and of a program's recent patterns. */
const FUNCTIONS = {};

const FUNCTION_SPEAKER: Speaker = {
  name: 're2',
  unmatched: () => 'called without previous match',
  uncaptured: 'never_capture was true in previous match',
};

/** A pattern that comes with the call. */
function compiled(
  ctx: VclContext,
  pattern: string,
  options: Options,
  problem: (text: string) => string,
): Pattern {
  const cell = programPriv(ctx, FUNCTIONS);
  cell.value ??= new RecentPatterns((text, how) => {
    const most = Math.min(MOST_AT_RUN_TIME, mostInstructions(how.max_mem));
    return new Pattern(text, how, most);
  });
  try {
    return (cell.value as RecentPatterns).of(pattern, options);
  } catch (error) {
    if (error instanceof PatternError) fail(problem(error.message));
    throw error;
  }
}

function match(ctx: VclContext, pattern: Text, subject: Text, ...raw: RawOptions): boolean {
  const call = `re2.match(pattern="${shown(pattern)}", text="${shown(subject)}")`;
  if (pattern === null) fail(`${call}: pattern is undefined`);
  const found = compiled(ctx, pattern, optionsOf(raw, true), (text) => `${call}: Cannot compile: ${text}`);
  if (subject === null) return false;
  const matched = searched(call, () => found.test(ctx, subject));
  // Unlike a method, the function forgets a match when one fails.
  remember(ctx, FUNCTIONS, new LastMatch(found, subject, matched));
  return matched;
}

function rewriting(name: OperationName, help: string): ExtensionFunction {
  const fallback = `**${name.toUpperCase()} FUNCTION FAILED**`;
  const call = (
    ctx: VclContext,
    pattern: Text,
    text: Text,
    to: Text,
    otherwise: Text,
    ...raw: RawOptions
  ): string => {
    if (otherwise === null) fail(`re2.${name}(): fallback is undefined`);
    if (pattern === null)
      fail(`re2.${name}(pattern=<undefined>, fallback="${shown(otherwise)}"): pattern is undefined`);
    const head = `re2.${name}(pattern="${shown(pattern)}", text=`;
    const tail = `fallback="${shown(otherwise)}")`;
    if (text === null) fail(`${head}<undefined>, ${tail}: text is undefined`);
    if (to === null) fail(`${head}"${shown(text)}", rewrite=<undefined>, ${tail}: rewrite is undefined`);
    const found = compiled(
      ctx,
      pattern,
      optionsOf(raw, true),
      (problem) =>
        `${head}"${shown(text)}", rewrite="${shown(to)}", ${tail}: Cannot compile '${shown(pattern)}': ${problem}`,
    );
    return rewrite(ctx, `re2.${name}`, name, found, text, to, otherwise);
  };
  return row(
    `STRING ${name}(STRING pattern, STRING text, STRING rewrite, STRING fallback="${fallback}", ${OPTIONS})`,
    call,
    `${help}; the fallback where the pattern does not match. Fails the transaction for a pattern that is wrong, and for an argument that is unset.`,
  );
}

/** A pattern of the program. */
class Regex {
  readonly pattern: Pattern;
  readonly speaker: Speaker;

  constructor(name: string, pattern: Text, options: Options) {
    const who = `${name} constructor: cannot compile '${shown(pattern)}'`;
    if (pattern === null) fail(`${who}: pattern is undefined`);
    try {
      this.pattern = new Pattern(pattern, options);
    } catch (error) {
      if (error instanceof PatternError) fail(`${who}: ${error.message}`);
      throw error;
    }
    this.speaker = {
      name,
      unmatched: (method) => `${method} called without prior match`,
      uncaptured: `never_capture is true for object ${name}`,
    };
  }

  match(ctx: VclContext, text: Text): boolean {
    if (text === null) return false;
    const { pattern } = this;
    const matched = searched(`${this.speaker.name}.match(subject="${shown(text)}")`, () =>
      pattern.test(ctx, text),
    );
    remember(ctx, this, new LastMatch(pattern, text, matched));
    return matched;
  }
}

function rewritingMethod(method: OperationName, help: string): ExtensionFunction {
  return row(
    `STRING ${method}(STRING text, STRING rewrite, STRING fallback="**${method.toUpperCase()} METHOD FAILED**")`,
    (ctx, self: Regex, text: Text, to: Text, otherwise: Text) =>
      rewrite(ctx, `${self.speaker.name}.${method}`, method, self.pattern, text, to, otherwise),
    `${help}; the fallback where the pattern does not match. Fails the transaction for an argument that is unset.`,
  );
}

const SUB = 'The text with its first match rewritten, where \\0 to \\9 are the match and its groups';
const SUBALL = 'As sub(), with all matches rewritten';
const EXTRACT = 'The rewrite alone, with the groups of the first match';
const BACKREF =
  'A group of the last match() in this task, 0 for the whole match; the fallback for a group that is not in it. Fails the transaction without a match, for a number that is too large, and with never_capture.';
const NAMEDREF =
  'The same for a group by its name, as in `(?P<name>…)`. Fails the transaction for a name that the pattern does not have.';

const regex: ExtensionObject = {
  signature: `regex(STRING pattern, ${OPTIONS})`,
  help: 'A pattern. One that is wrong, or too large for max_mem, fails the load.',
  create: (_ctx, name, pattern: Text, ...raw: RawOptions) => new Regex(name, pattern, optionsOf(raw, true)),
  // biome-ignore format: a row is a line
  methods: byName(
    row('BOOL match(STRING)', (ctx, self: Regex, text: Text) => self.match(ctx, text), 'Whether the pattern matches somewhere in the text. An unset text does not.'),
    row('STRING backref(INT ref, STRING fallback="**BACKREF METHOD FAILED**")',
      (ctx, self: Regex, ref: number, otherwise: Text) => backref(ctx, self, self.speaker, ref, otherwise), BACKREF),
    row('STRING namedref(STRING name, STRING fallback="**NAMEDREF METHOD FAILED**")',
      (ctx, self: Regex, name: Text, otherwise: Text) => namedref(ctx, self, self.speaker, name, otherwise), NAMEDREF),
    rewritingMethod('sub', SUB),
    rewritingMethod('suball', SUBALL),
    rewritingMethod('extract', EXTRACT),
    row('INT cost()', (_ctx, self: Regex) => self.pattern.cost, 'How many instructions the pattern has: those with more cost more.'),
  ),
};

function cost(ctx: VclContext, pattern: Text, ...raw: RawOptions): number {
  const call = `re2.cost("${shown(pattern)}")`;
  if (pattern === null) fail(`${call}: pattern is undefined`);
  return compiled(ctx, pattern, optionsOf(raw, true), (text) => `${call}: Cannot compile: ${text}`).cost;
}

export const re2: Extension = {
  name: 're2',
  help: 'regular expressions in linear time, and sets of them',
  notes: {
    limits:
      'A search costs at most the instructions of its pattern times the bytes of its text. One for which that exceeds 1000 times pcre2_match_limit fails the transaction. Patterns of functions have at most 5000 instructions; those of a program are kept for further calls.',
  },
  // biome-ignore format: a row is a line
  functions: byName(
    row(`BOOL match(STRING pattern, STRING subject, ${OPTIONS})`, match,
      'Whether the pattern matches somewhere in the text. Fails the transaction for a pattern that is unset or wrong. Where the pattern is always the same, an object is cheaper.'),
    row('STRING backref(INT ref, STRING fallback="**BACKREF FUNCTION FAILED**")',
      (ctx, ref: number, otherwise: Text) => backref(ctx, FUNCTIONS, FUNCTION_SPEAKER, ref, otherwise), BACKREF),
    row('STRING namedref(STRING name, STRING fallback="**NAMEDREF FUNCTION FAILED**")',
      (ctx, name: Text, otherwise: Text) => namedref(ctx, FUNCTIONS, FUNCTION_SPEAKER, name, otherwise), NAMEDREF),
    rewriting('sub', SUB),
    rewriting('suball', SUBALL),
    rewriting('extract', EXTRACT),
    row(`INT cost(STRING pattern, ${OPTIONS})`, cost, 'How many instructions the pattern has. Fails the transaction for one that is wrong.'),
    row('STRING quotemeta(STRING)', (_ctx, text: Text) => (text === null ? null : quoted(text)),
      'The text as a pattern that matches it alone; unset for an unset one.'),
    row('STRING version()', () => VERSION, 'The version of the module that this follows.'),
  ),
  objects: { regex, set },
};
