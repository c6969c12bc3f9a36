import { describe, expect, it } from 'vitest';
import type { VclContext } from '../../../../daemon/contract/context.ts';
import { matches, regex, regsub, regsuball } from '../../../../daemon/vcl/runtime/regexes.ts';

/** A context that knows one parameter and keeps what is logged. */
function context(limit: number): { ctx: VclContext; logged: string[] } {
  const logged: string[] = [];
  const ctx = {
    host: { param: (name: string) => (name === 'pcre2_match_limit' ? limit : 0) },
    log: { put: (_tag: number, text: string) => logged.push(text) },
  };
  return { ctx: ctx as unknown as VclContext, logged };
}

describe('the limit', () => {
  const hostile = `${'a'.repeat(50_000)}!`;

  it('counts as no match and leaves a record', () => {
    const { ctx, logged } = context(10_000);
    expect(matches(ctx, hostile, regex('^(a+)+\\1$'))).toBe(false);
    expect(regsub(ctx, hostile, regex('^(a+)+\\1$'), 'X')).toBe(hostile);
    expect(regsuball(ctx, hostile, regex('^(a+)+\\1$'), 'X')).toBe(hostile);
    expect(logged).toEqual([
      'Regexp matching failed: match limit exceeded',
      'regsub: Regexp matching returned -47',
      'regsub: Regexp matching returned -47',
    ]);
  });

  it('follows the parameter', () => {
    const subject = 'aaaaaaaa!';
    const small = context(1);
    expect(matches(small.ctx, subject, regex('^(a+)+\\1$'))).toBe(false);
    expect(small.logged).toHaveLength(1);
    const usual = context(10_000);
    expect(matches(usual.ctx, subject, regex('^(a+)+\\1$'))).toBe(false);
    expect(usual.logged).toEqual([]);
  });

  it('is one for all searches of a substitution', () => {
    const { ctx, logged } = context(100);
    const text = 'ab'.repeat(5000);
    expect(regsuball(ctx, text, regex('(a)b(?!\\1x)'), '')).toBe(text);
    expect(logged).toHaveLength(1);
    expect(regsuball(context(10_000).ctx, text, regex('(a)b(?!\\1x)'), '')).toBe('');
  });

  it('is not reached by many matches of an expression whose loops are nested', () => {
    const { ctx, logged } = context(10_000);
    const text = 'c'.repeat(30_000);
    expect(regsuball(ctx, text, regex('(?:(?:a+)+b+)+|c'), 'd')).toBe('d'.repeat(30_000));
    expect(regsuball(ctx, text, regex('(?<=c)c'), 'd')).toBe(`c${'d'.repeat(29_999)}`);
    const all = 'a'.repeat(3000);
    expect(regsuball(ctx, all, regex('(?:a+)+b|a'), 'd')).toBe('d'.repeat(3000));
    expect(logged).toEqual([]);
  });
});
