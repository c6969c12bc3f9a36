// Names of tags as each tool takes them: all tags, in any case, and every beginning of them, through Varnish's tools and ours.
import { execFile } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseProfile } from '../../console/histogram/profile.ts';
import { parseTemplate } from '../../console/ncsa/template.ts';
import { TAGS, Tag, type TagRow, tagNamed } from '../../protocol/tables/tags.ts';
import { findProgram } from '../harness/processes.ts';
import { field, fieldTool, fixture, ours } from './log-tools.ts';

const FILE = fixture('mixed.vsl');
const LINES = findProgram('varnishncsa');
const NAMES = TAGS.map(({ name }) => name);
const THEIRS = TAGS.filter((row: TagRow) => row.own !== true).map(({ name }) => name);
/** Every beginning of every name of Varnish, and names in other cases. */
const ASKED = [
  ...new Set(THEIRS.flatMap((name) => Array.from(name, (_, i) => name.slice(0, i + 1)))),
  ...THEIRS.flatMap((name) => [name.toUpperCase(), name.toLowerCase()]),
  ...['Nothing', 'ReqURLs', 'Hit_'],
];

function errorOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) =>
    execFile(program, args, { encoding: 'latin1' }, (_error, _out, err) => resolve(err.trimEnd())),
  );
}

it('means each tag by its own name, which may begin others', () => {
  for (const [i, name] of NAMES.entries()) {
    const template = parseTemplate(`%{VSL:${name}[2]}x`, true);
    expect(typeof template === 'string' ? template : template.records[0]?.tag, name).toBe(i + 1);
    const profile = parseProfile(`${name}::3`);
    if (typeof profile !== 'string') expect(profile.tag, name).toBe(i + 1);
    else expect(profile).toContain('unsafe or binary record');
  }
});

it('takes beginnings of our own tags where Varnish has none', () => {
  for (const row of TAGS.filter((each: TagRow) => each.own === true)) {
    const own = TAGS.indexOf(row) + 1;
    for (const name of [row.name, row.name.toLowerCase(), row.name.slice(0, -1)])
      if (!THEIRS.some((each) => each.toLowerCase().startsWith(name.toLowerCase())))
        expect(tagNamed(name), name).toBe(own);
  }
  expect(tagNamed('BackendS')).toBe(Tag.BackendStart);
  expect(tagNamed('BackendSS')).toBe(Tag.BackendSSL);
});

describe.skipIf(LINES === null)('beside varnishncsa', () => {
  it('takes the same names in a format, and says the same of others', async () => {
    const wrong: string[] = [];
    for (const name of ASKED) {
      const theirs = await errorOf(LINES as string, ['-r', FILE, '-F', `%{VSL:${name}[2]}x`]);
      const template = parseTemplate(`%{VSL:${name}[2]}x`, false);
      const mine = typeof template === 'string' ? template : '';
      if (mine !== theirs) wrong.push(`${name}: ${mine} / ${theirs}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe.skipIf(fieldTool === null)('beside varnishlog', () => {
  it.each([
    ['-i', (name: string) => ['-g', 'raw', '-i', name]],
    ['-x', (name: string) => ['-g', 'raw', '-x', name]],
    ['-I', (name: string) => ['-g', 'raw', '-I', `${name}:a`]],
    ['-X', (name: string) => ['-g', 'raw', '-X', `${name}:a`]],
    ['-q', (name: string) => ['-g', 'raw', '-q', `${name}[1] ~ a`]],
  ])('takes the same names with %s', async (_option, args) => {
    const wrong: string[] = [];
    for (const name of ASKED) {
      const [mine, theirs] = await Promise.all([ours(FILE, args(name)), field(FILE, args(name))]);
      if (mine.err !== theirs.err || mine.out !== theirs.out)
        wrong.push(`${name}: ${mine.err} / ${theirs.err}`);
    }
    expect(wrong).toEqual([]);
  });
});
