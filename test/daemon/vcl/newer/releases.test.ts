// varnish_release: the builtin program's subs, the flags of a program, and the pages made from the table of changes.
import { describe, expect, it } from 'vitest';
import { builtinText } from '../../../../daemon/vcl/own-programs.ts';
import { PARAMS } from '../../../../protocol/tables/params.ts';
import {
  changesOf,
  RELEASE_CHANGES,
  type ReleaseChange,
} from '../../../../protocol/tables/release-changes.ts';

const SUBS = /^sub (\w+)/gm;
const subs = (text: string): string[] => [...text.matchAll(SUBS)].map(([, name]) => name as string);

describe('the builtin program', () => {
  it('has the same subs under both releases and profiles, so that a program may add to any of them', () => {
    const expected = subs(builtinText());
    for (const profile of ['classic', 'rfc9111'] as const)
      for (const release of ['7.1', '9.0'] as const)
        expect(subs(builtinText(profile, release))).toEqual(expected);
  });

  it('makes a tunnel of a method that it does not know under 7.1, and refuses it under 9.0', () => {
    expect(builtinText('classic', '7.1')).toContain('return (pipe);\n\t}\n\t# Only these two');
    expect(builtinText('classic', '9.0')).not.toContain('# Only these two');
    for (const profile of ['classic', 'rfc9111'] as const)
      expect(builtinText(profile, '9.0')).toContain('return (synth(501));');
  });
});

describe('the table of changes', () => {
  const rows: [string, ReleaseChange][] = Object.entries(RELEASE_CHANGES);

  it('has a flag for each row that follows the parameter, off under 7.1 and on under 9.0', () => {
    const names = rows.filter(([, { here }]) => here === 'parameter').map(([name]) => name);
    expect(changesOf('7.1')).toEqual(Object.fromEntries(names.map((name) => [name, false])));
    expect(changesOf('9.0')).toEqual(Object.fromEntries(names.map((name) => [name, true])));
  });

  it.each(rows)('%s is described in whole sentences, without code in its topic', (_name, row) => {
    for (const text of [row.before, row.after, row.why]) expect(text).toMatch(/^[A-Z`].*\.$/s);
    expect(row.topic).not.toContain('`');
  });

  it('is in the description of the parameter', () => {
    const help = PARAMS.find(({ name }) => name === 'varnish_release')?.help ?? '';
    for (const [, { here, topic }] of rows) if (here === 'parameter') expect(help).toContain(topic);
  });
});
