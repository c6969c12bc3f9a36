// The pages made of tables: every row is there, and every example is one that the program takes.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FORMAT_EXAMPLES, ncsaPage } from '../../../console/documents/ncsa-page.ts';
import { EXAMPLES, queryPage } from '../../../console/documents/query-page.ts';
import { roff } from '../../../console/documents/roff.ts';
import { tlsPage } from '../../../console/documents/tls-page.ts';
import {
  BRACKETED,
  DEFAULT_FORMAT,
  FAMILIES,
  SIMPLE,
  TIME_WORDS,
  VARIABLES,
} from '../../../console/ncsa/specifiers.ts';
import { parseTemplate } from '../../../console/ncsa/template.ts';
import { localTime } from '../../../protocol/local-time.ts';
import { CONVERSIONS, strftime } from '../../../protocol/strftime.ts';
import { TLS_FILE_KEYS } from '../../../protocol/tables/tls-file-keys.ts';
import { parseQuery } from '../../../queries/parse-query.ts';
import { CONNECTIVES, LEVELS, OPERATORS } from '../../../queries/query-words.ts';

/** Whether a page has an entry of this name. */
const has = (page: string, term: string): boolean => page.includes(`.TP\n\\fB${roff(term)}\\fR`);

it('proxy-query(7) has every operator, connective and level, and examples that parse', () => {
  const page = queryPage();
  for (const { text } of [...OPERATORS, ...CONNECTIVES])
    expect([text, has(page, text)]).toEqual([text, true]);
  for (const { suffix } of LEVELS) {
    expect(has(page, `{N${suffix}}`)).toBe(true);
    expect(parseQuery(`{2${suffix}}ReqURL`).ok).toBe(true);
  }
  for (const [query] of EXAMPLES) expect([query, parseQuery(query).ok]).toEqual([query, true]);
  for (const { text, token } of OPERATORS) {
    const operand = token === 'cmp' ? '1' : 'x';
    expect([text, parseQuery(`RespStatus ${text} ${operand}`).ok]).toEqual([text, true]);
  }
});

it('proxy-ncsa(7) has everything that formats may ask for, and examples that parse', () => {
  const page = ncsaPage();
  const known = (format: string, json = false): void => {
    expect([format, typeof parseTemplate(format, json)]).toEqual([format, 'object']);
  };
  known(DEFAULT_FORMAT);
  expect(page).toContain(roff(DEFAULT_FORMAT));
  for (const { format, json } of FORMAT_EXAMPLES) known(format, json);
  for (const { letter } of SIMPLE) {
    known(`%${letter}`);
    expect(has(page, `%${letter}`)).toBe(true);
  }
  for (const { letter, argument } of BRACKETED) expect(has(page, `%{${argument}}${letter}`)).toBe(true);
  for (const { name } of VARIABLES) {
    known(`%{Proxy:${name}}x %{Varnish:${name}}x`);
    expect(has(page, `%{Proxy:${name}}x`)).toBe(true);
  }
  for (const { names } of FAMILIES) for (const name of names) expect(page).toContain(`${name}:`);
  for (const { word } of TIME_WORDS) expect(has(page, `%{${word}}t`)).toBe(true);
  for (const { letter } of CONVERSIONS) {
    expect(strftime(`%${letter}`, localTime(1_700_000_000))).not.toBe(`%${letter}`);
    expect(has(page, `%${letter}`)).toBe(true);
  }
});

it('proxy-tls(7) has every key of the file of -A, in the place that its text marks', () => {
  const listeners = readFileSync(new URL('../../../daemon/tls/LISTENERS.md', import.meta.url), 'utf8');
  const page = tlsPage([listeners.replace(/^# .*\n+/, ''), '## Origins\n\nmore']);
  for (const { name } of TLS_FILE_KEYS) expect([name, has(page, name)]).toEqual([name, true]);
  const at = ['The file of', 'frontend', 'Commands', 'Origins'].map((text) => page.indexOf(text));
  expect(at).toEqual(at.toSorted((a, b) => a - b));
  expect(() => tlsPage(['nothing'])).toThrow('needs this line once');
});
