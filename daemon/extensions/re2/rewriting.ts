// Texts made of a match: the rewrite of RE2, where \0 to \9 are the match and its groups, and \\ is a backslash.

import type { VclContext } from '../../contract/context.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { type Found, type Pattern, TooExpensive } from './pattern.ts';

export type Text = string | null;

/** How much of a text messages show. */
const SHOWN = 40;

/** A text in a message. */
export function shown(text: Text | undefined): string {
  return text == null ? '<undefined>' : text.slice(0, SHOWN);
}

/** Fails the transaction, in vcl_init the load, with the words of Varnish's module. */
export function fail(text: string): never {
  throw new ExtensionError(`vmod re2 failure: ${text}`);
}

/** Runs a search; one that would cost too much fails the transaction with this call in front. */
export function searched<T>(call: string, search: () => T): T {
  try {
    return search();
  } catch (error) {
    if (error instanceof TooExpensive) fail(`${call}: ${error.message}`);
    throw error;
  }
}

export function groupOf(text: string, found: Found, group: number): Text {
  const from = found[2 * group] ?? -1;
  return from < 0 ? null : text.slice(from, found[2 * group + 1]);
}

/** The largest number that a rewrite refers to. */
function highest(rewrite: string): number {
  let most = 0;
  for (const [, digit] of rewrite.matchAll(/\\(?:(\d)|.)/gs)) most = Math.max(most, Number(digit ?? 0));
  return most;
}

/** The rewrite with its groups, and whether all of it is valid: it ends before what is not. */
function rewritten(text: string, found: Found, rewrite: string): { out: string; valid: boolean } {
  let out = '';
  for (let at = 0; at < rewrite.length; at++) {
    const c = rewrite.charAt(at);
    if (c !== '\\') {
      out += c;
      continue;
    }
    const next = rewrite.charAt(++at);
    if (next >= '0' && next <= '9') out += groupOf(text, found, Number(next)) ?? '';
    else if (next === '\\') out += next;
    else return { out, valid: false };
  }
  return { out, valid: true };
}

/** One of the three rewriting operations: null stands for the fallback. */
type Operation = (ctx: VclContext, pattern: Pattern, text: string, rewrite: string) => Text;

function once(make: (text: string, found: Found, out: string) => string): Operation {
  return (ctx, pattern, text, rewrite) => {
    if (highest(rewrite) > pattern.groups) return null;
    const found = pattern.find(ctx, text);
    if (found === null) return null;
    const { out, valid } = rewritten(text, found, rewrite);
    return valid ? make(text, found, out) : null;
  };
}

function suball(ctx: VclContext, pattern: Pattern, text: string, rewrite: string): Text {
  if (highest(rewrite) > pattern.groups) return null;
  let result = '';
  let from = 0;
  let count = 0;
  for (const found of pattern.all(ctx, text)) {
    // As in RE2, which does not ask whether the rewrite is valid here.
    result += text.slice(from, found[0]) + rewritten(text, found, rewrite).out;
    from = found[1] as number;
    count++;
  }
  return count === 0 ? null : result + text.slice(from);
}

const OPERATIONS = {
  sub: once((text, found, out) => text.slice(0, found[0]) + out + text.slice(found[1])),
  suball,
  extract: once((_text, _found, out) => out),
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof OPERATIONS;

/** Rewrites, or gives the fallback. @param call how messages name it, as in `r.sub` */
export function rewrite(
  ctx: VclContext,
  call: string,
  operation: OperationName,
  pattern: Pattern,
  text: Text,
  rewriteText: Text,
  fallback: Text,
): string {
  if (fallback === null) fail(`${call}(): fallback is undefined`);
  if (text === null) fail(`${call}(text=<undefined>, fallback="${shown(fallback)}"): text is undefined`);
  if (rewriteText === null)
    fail(
      `${call}(text="${shown(text)}", rewrite=<undefined>, fallback="${shown(fallback)}"): rewrite is undefined`,
    );
  return (
    searched(`${call}(text="${shown(text)}")`, () =>
      OPERATIONS[operation](ctx, pattern, text, rewriteText),
    ) ?? fallback
  );
}
