// re2.set: the methods of a set of patterns.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionFunction, ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import type { HttpMessage } from '../../http1/message.ts';
import type { SubValue } from '../../vcl/runtime/sub-value.ts';
import { refuseStored } from '../changeable-head.ts';
import { byName, row } from '../extension-rows.ts';
import { optionsOf, type RawOptions, SET_OPTIONS } from './pattern-options.ts';
import { type Anchor, type Member, PatternSet, type Select } from './pattern-set.ts';
import { fail, type OperationName, rewrite, shown, type Text } from './rewriting.ts';

const WHICH = 'INT n=0, ENUM {FIRST, LAST, UNIQUE} select=UNIQUE';
const MEANT =
  'The pattern is the n-th one, or with n=0 the one that the last match() in this task has found; where it has found several, select says which, and UNIQUE fails the transaction.';

const SAVED: Readonly<Record<string, keyof Member>> = {
  REGEX: 'regex',
  STR: 'string',
  BE: 'backend',
  INT: 'integer',
  SUB: 'sub',
};

function add(
  ctx: VclContext,
  self: PatternSet,
  pattern: Text,
  string?: Text,
  backend?: Director | null,
  save?: boolean,
  neverCapture?: boolean,
  integer?: number,
  sub?: SubValue,
): void {
  const attached = { string: string ?? undefined, backend: backend ?? undefined, integer, sub };
  self.add(ctx, pattern, attached, save ?? false, neverCapture ?? false);
}

/** A method that returns what was attached. @param prefixed whether its messages begin as those of the module do */
function attached<K extends keyof Member>(
  method: string,
  type: string,
  key: K,
  prefixed: boolean,
  help: string,
): ExtensionFunction {
  const call = (ctx: VclContext, self: PatternSet, n: number, select: Select): NonNullable<Member[K]> => {
    const found = self.attached(ctx, key, { method }, n, select);
    if ('value' in found) return found.value;
    return prefixed ? fail(found.missing) : raise(found.missing);
  };
  return row(`${type} ${method}(${WHICH})`, call, `${help} ${MEANT} Without one the transaction fails.`);
}

function raise(text: string): never {
  throw new ExtensionError(text);
}

function rewriting(method: OperationName, help: string): ExtensionFunction {
  const fallback = `**${method.toUpperCase()} METHOD FAILED**`;
  return row(
    `STRING ${method}(STRING text, STRING rewrite, STRING fallback="${fallback}", ${WHICH})`,
    (ctx, self: PatternSet, text: Text, to: Text, otherwise: Text, n: number, select: Select) => {
      const args = `${shown(text)}, ${shown(to)}, `;
      const found = self.attached(ctx, 'regex', { method, args }, n, select);
      if ('missing' in found) fail(found.missing);
      return rewrite(ctx, `${self.name}.${method}`, method, found.value, text, to, otherwise);
    },
    `${help}, by a pattern that was added with save=true; the fallback where it does not match. ${MEANT}`,
  );
}

/** Whether the sub may be called here; a Notice says why not. */
function checkCall(ctx: VclContext, self: PatternSet, n: number, select: Select): boolean {
  const found = self.attached(ctx, 'sub', { method: 'check_call' }, n, select);
  const why = 'missing' in found ? found.missing : found.value.refusal(ctx);
  if (why === null) return true;
  const call = 'missing' in found ? why : `${self.name}.check_call(): ${why}`;
  ctx.log.put(Tag.Notice, `vmod_re2: ${call}`);
  return false;
}

function filterHead(ctx: VclContext, self: PatternSet, http: HttpMessage, keep: boolean): void {
  refuseStored(ctx, http, `${self.name}.hdr_filter()`);
  http.removeWhere(0, (i) => self.matches(ctx, http.lines[i] as string) !== keep);
}

export const set: ExtensionObject = {
  signature: `set(ENUM {none, start, both} anchor=none, ${SET_OPTIONS})`,
  help:
    'Patterns that are matched at once, in one pass over the text. With anchor=start each matches from the beginning only, with both the whole text. ' +
    'A program whose set is empty or too large for max_mem does not load.',
  create: (_ctx, name, anchor: Anchor, ...options: RawOptions) =>
    new PatternSet(name, anchor, { ...optionsOf(options, false), never_capture: true }),
  prepare: (self: PatternSet) => {
    self.complete();
    return false;
  },
  // biome-ignore format: a row is a line
  methods: byName(
    row('VOID add(STRING, [STRING string], [BACKEND backend], [BOOL save], [BOOL never_capture], [INT integer], [SUB sub])', add,
      'In vcl_init: adds a pattern, and what belongs to it. With save it can be used for sub(), suball() and extract(). One that is wrong fails the load.'),
    row('VOID compile()', (ctx, self: PatternSet) => self.compile(ctx), 'In vcl_init: compiles the set; no pattern may follow. Not needed: it is done after vcl_init.'),
    row('BOOL match(STRING)', (ctx, self: PatternSet, text: Text) => self.match(ctx, text), 'Whether any of the patterns matches. An unset text does not.'),
    row('INT nmatches()', (ctx, self: PatternSet) => self.nmatches(ctx), 'How many patterns the last match() in this task has found. Fails the transaction without one.'),
    row('BOOL matched(INT)', (ctx, self: PatternSet, n: number) => self.matched(ctx, n), 'Whether the n-th pattern, from 1, is among those that the last match() in this task has found. Fails the transaction without one.'),
    row('INT which(ENUM {FIRST, LAST, UNIQUE} select=UNIQUE)', (ctx, self: PatternSet, select: Select) => self.which(ctx, 'which', 0, select),
      `The number of a pattern, from 1. ${MEANT}`),
    attached('string', 'STRING', 'string', true, 'The text of a pattern.'),
    attached('backend', 'BACKEND', 'backend', true, 'The backend of a pattern.'),
    attached('integer', 'INT', 'integer', false, 'The number that belongs to a pattern.'),
    attached('subroutine', 'SUB', 'sub', false, 'The sub of a pattern, for `call`.'),
    row(`BOOL check_call(${WHICH})`, checkCall, `Whether the sub of a pattern can be called here. ${MEANT} Never fails: a Notice in the log says why not.`),
    row(`BOOL saved(ENUM {REGEX, STR, BE, INT, SUB} which=REGEX, ${WHICH})`,
      (ctx, self: PatternSet, which: string, n: number, select: Select) => self.has(ctx, SAVED[which] ?? 'regex', n, select),
      `Whether a pattern was saved, or has a text, a backend, a number or a sub. ${MEANT}`),
    rewriting('sub', 'The text with the first match rewritten'),
    rewriting('suball', 'The text with all matches rewritten'),
    rewriting('extract', 'The rewrite alone, with groups of the first match'),
    row('VOID hdr_filter(HTTP, BOOL whitelist=1)', filterHead,
      'Keeps the headers whose lines (`Name: value`) match, and removes the others; with whitelist=false it is the other way round.'),
  ),
};
