// The manual of the language: the generated part of daemon/vcl/README.md is that of the tables (`vitest -u` writes it), and
// neither it nor proxy-vcl(7) leaves out a row.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { languageMarkdown, languagePage } from '../../../console/documents/language-page.ts';
import { languageTexts } from '../../../console/documents/write.ts';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { LANGUAGE } from '../../../daemon/vcl/tables/language.ts';
import { RETURNS } from '../../../protocol/tables/returns.ts';
import { STATES } from '../../../protocol/tables/states.ts';
import { VARIABLES } from '../../../protocol/tables/variables.ts';

const ROOT = new URL('../../../', import.meta.url);
const README = new URL('daemon/vcl/README.md', ROOT).pathname;
const texts = languageTexts(ROOT);

/** Everything that the tables name, with the sentence about it. */
const ROWS: readonly (readonly [name: string, help: string])[] = [
  ...[...LANGUAGE.declarations, ...LANGUAGE.statements].map((r) => [r.syntax, r.help] as const),
  ...[...LANGUAGE.aclFlags, ...LANGUAGE.includeFlags].map((r) => [`+${r.flag}`, r.help] as const),
  ...[...LANGUAGE.backendFields, ...LANGUAGE.probeFields].map((r) => [`.${r.name}`, r.help] as const),
  ...[...LANGUAGE.backendFields, ...LANGUAGE.probeFields].map((r) => [`.${r.name}`, r.default] as const),
  ...LANGUAGE.types.map((r) => [r.name, r.help] as const),
  ...[...LANGUAGE.byteUnits, ...LANGUAGE.timeUnits].map((r) => [r.unit, r.help] as const),
  ...LANGUAGE.members.map((r) => [`${r.of}.${r.name}`, r.help] as const),
  ...LANGUAGE.operators.map((r) => [r.symbol, r.help] as const),
  ...LANGUAGE.arithmetic.map(
    ([left, op, right, result]) => [left, `${op} ${right} gives ${result}`] as const,
  ),
  ...LANGUAGE.functions.map((r) => [r.syntax, r.help] as const),
  ...Object.values(LANGUAGE.limits).map((r) => [String(r.value), r.help] as const),
  ...STATES.map((r) => [`vcl_${r.name}`, r.help] as const),
  ...RETURNS.map((r) => [r.name, r.name === '' ? '' : r.help] as const),
  ...VARIABLES.map((r) => [r.name, r.help] as const),
];

/** A page without the marks of its form, its lines joined. */
function plain(page: string): string {
  return page
    .replaceAll(/\\f[BIR]/g, '')
    .replaceAll('\\-', '-')
    .replaceAll('\\:', '')
    .replaceAll('\\&', '')
    .replaceAll('\\(ti', '~')
    .replaceAll('\\(ha', '^')
    .replaceAll('\\(aq', "'")
    .replaceAll(/\\\[u([0-9A-F]+)\]/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll('\\e', '\\')
    .replaceAll('`', '')
    .replaceAll(/\s+/g, ' ');
}

const page = (): string => plain(languagePage(LANGUAGE, texts, 'None.'));
const readme = (): string => plain(readFileSync(README, 'utf8'));

describe('the manual of the language', () => {
  it('is generated from the tables', async () => {
    await expect(`${texts.tutorial}${languageMarkdown(LANGUAGE, texts)}`).toMatchFileSnapshot(README);
  });

  it.each([
    ['proxy-vcl(7)', page],
    ['daemon/vcl/README.md', readme],
  ])('%s has every row of the tables, the recipes and the builtin program', (_, read) => {
    const text = read();
    const missing = ROWS.filter(([name, help]) => !text.includes(plain(name)) || !text.includes(plain(help)));
    expect(missing).toEqual([]);
    expect(texts.recipes.length).toBe(13);
    for (const shown of [...texts.recipes.map((recipe) => recipe.text), texts.builtin])
      expect(text).toContain(plain(shown).trim());
  });

  it('has a sentence about each row', () => {
    const sentences = [
      ...[...LANGUAGE.declarations, ...LANGUAGE.statements, ...LANGUAGE.aclFlags, ...LANGUAGE.includeFlags],
      ...[...LANGUAGE.backendFields, ...LANGUAGE.probeFields, ...LANGUAGE.types, ...LANGUAGE.members],
      ...[...LANGUAGE.byteUnits, ...LANGUAGE.timeUnits, ...LANGUAGE.operators, ...LANGUAGE.functions],
      ...[...Object.values(LANGUAGE.limits), ...STATES, ...RETURNS, ...VARIABLES],
    ].map((row) => row.help);
    expect(sentences.filter((help) => help.startsWith(' ') || !help.endsWith('.'))).toEqual([]);
  });

  it('shows programs that compile', () => {
    const shown = [...texts.tutorial.matchAll(/```vcl\n(vcl 4[\s\S]*?)```/g)].map((m) => m[1] as string);
    expect(shown.length).toBeGreaterThan(1);
    for (const text of [...shown, ...texts.recipes.map((recipe) => recipe.text)])
      expect(compile({ name: '/shown.vcl', text }, { isOffline: true }).errors ?? []).toEqual([]);
  });
});

describe('recipes', () => {
  it.each(texts.recipes.map((recipe) => [recipe.name, recipe.text]))('%s says what it is for', (_, text) => {
    const comment =
      text.split('\n\n')[0] === undefined ? [] : (/^(?:#.*\n)+/.exec(text)?.[0] ?? '').trim().split('\n');
    expect(comment.length).toBeGreaterThanOrEqual(3);
    expect(comment.length).toBeLessThanOrEqual(10);
    expect(comment.join('\n')).toContain('curl');
  });
});
