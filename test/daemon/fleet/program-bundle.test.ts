// A program as a message: what is written is read back, what was changed or is none is refused with a reason, and the compiler
// finds in it what it found on the disk of the node that it came from, and nothing else.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosenFor, readActive, writeActive } from '../../../daemon/fleet/active-program.ts';
import { LONGEST_BUNDLE } from '../../../daemon/fleet/fleet-names.ts';
import {
  filesOf,
  makeBundle,
  readBundle,
  sourceOf,
  writeBundle,
} from '../../../daemon/fleet/program-bundle.ts';
import { compile } from '../../../daemon/vcl/compile.ts';
import { ownPrograms } from '../../../daemon/vcl/own-programs.ts';
import { sourceText } from '../../../daemon/vcl/source-text.ts';

const file = (name: string, text: string) => ({ name, text, shipped: null });
const LATIN1 = sourceText(Buffer.from('# caf\xe9', 'latin1'));
const bundle = makeBundle('shop', ['/etc/vcl'], [file('/m.vcl', '# é'), file('/a.vcl', LATIN1)], 'web-1', 17);

interface Message {
  files: object[];
}

/** The message with something changed in it. */
function changed(change: (message: Message) => void): Uint8Array {
  const message = JSON.parse(Buffer.from(writeBundle(bundle)).toString()) as Message;
  change(message);
  return Buffer.from(JSON.stringify(message));
}
function edit({ files }: Message, at: number, fields: object): void {
  Object.assign(files[at] as object, fields);
}

describe('a bundle', () => {
  it('is read as it was written, with the bytes of files that are no UTF-8', () => {
    expect(readBundle('shop', writeBundle(bundle))).toEqual(bundle);
    const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    expect(bundle.files.map((each) => each.sha256)).toEqual([
      hash(Buffer.from('# é')),
      hash(Buffer.from('# caf\xe9', 'latin1')),
    ]);
  });

  it.each<[string, (m: Message) => void, string]>([
    ['another text', (m) => edit(m, 1, { text: 'x' }), '/a.vcl does not have the hash'],
    ['another name of a file', (m) => edit(m, 1, { name: '/b.vcl' }), 'the files do not have'],
    ['a file that is none', (m) => edit(m, 0, { shipped: 1 }), 'a file is malformed'],
    ['fewer files', (m) => Object.assign(m, { files: m.files.slice(1) }), 'the files do not have'],
    ['no files', (m) => Object.assign(m, { files: [] }), 'files is not a list of 1 to 256 files'],
    [
      'too many',
      (m) => Object.assign(m, { files: new Array(300).fill(m.files[0]) }),
      'files is not a list of 1 to 256 files',
    ],
    ['another path', (m) => Object.assign(m, { path: ['/x'] }), 'the files do not have'],
    ['a path that is none', (m) => Object.assign(m, { path: '/x' }), 'path is not a list'],
    ['another name', (m) => Object.assign(m, { name: 'other' }), 'its name does not match'],
    ['no origin', (m) => Object.assign(m, { by: 1 }), 'by or at is missing'],
    ['another version', (m) => Object.assign(m, { v: 2 }), 'not a program of version 1'],
  ])('with %s is refused', (_, change, reason) => {
    expect(readBundle('shop', changed(change))).toMatch(reason);
  });

  it('that is too long is refused unread', () => {
    expect(readBundle('shop', Buffer.alloc(LONGEST_BUNDLE + 1))).toBe(`longer than ${LONGEST_BUNDLE} bytes`);
  });

  it('never throws', () => {
    const any = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
    );
    const odd = fc.record({
      v: fc.constant(1),
      name: fc.constant('shop'),
      by: fc.string(),
      at: fc.double(),
      path: fc.constant([]),
      files: fc.anything(),
    });
    fc.assert(
      fc.property(
        fc.oneof(
          any,
          odd.map((value) => Buffer.from(JSON.stringify(value) ?? '')),
        ),
        (data) => {
          readBundle('shop', data);
          readActive(data);
        },
      ),
    );
  });
});

describe('what a program includes', () => {
  const disk: Record<string, string> = {
    '/s/main.vcl':
      'vcl 4.1; include "x.vcl"; include "./y.vcl"; include +glob "./d/*.vcl"; include "invalidate.vcl"; backend default none; acl invalidators { "::1"; }',
    '/p2/x.vcl': '# x',
    '/s/y.vcl': '# y',
    '/s/d/1.vcl': '# 1',
    '/s/d/2.vcl': '# 2',
  };
  const reader = {
    vclPath: ['/p1', '/p2'],
    readFile: (name: string): string => {
      if (disk[name] === undefined) throw Object.assign(new Error(name), { code: 'ENOENT' });
      return disk[name];
    },
    readDir: (name: string): string[] =>
      name === '/s/d'
        ? ['1.vcl', '2.vcl', 'none.txt']
        : name === '/s'
          ? ['main.vcl', 'y.vcl', 'd']
          : ['s', 'p2'],
  };
  const source = { name: '/s/main.vcl', text: disk['/s/main.vcl'] as string };
  const extensions = { extensions: () => undefined, errUnref: false };
  const files = (options: object): { name: string; text: string }[] => {
    const result = compile(source, { ...extensions, ...options, noBuiltin: true });
    // The shipped file imports extensions, which are none here: what counts are the files.
    return result.program?.files ?? [];
  };

  it('comes out of the bundle, in the same order, also where this node has files of the same names', () => {
    const own = ownPrograms().recipes.get('invalidate.vcl') as { name: string; text: string };
    const names = ['/s/main.vcl', '/p2/x.vcl', '/s/y.vcl', '/s/d/1.vcl', '/s/d/2.vcl'];
    const made = filesOf([
      ...names.map((name) => ({ name, text: disk[name] as string })),
      own,
      { name: '<builtin>', text: 'x' },
    ]);
    expect(made.at(-1)).toEqual({ name: 'proxyd:invalidate.vcl', text: own.text, shipped: 'invalidate.vcl' });
    const { reader: closed, ...main } = sourceOf(makeBundle('a', reader.vclPath, made, 'n', 0));
    expect(main).toEqual(source);
    expect(closed.shipped?.('invalidate.vcl')?.text).toBe(own.text);
    expect(closed.shipped?.('edge_auto.vcl')).toBe(undefined);
    expect(closed.readDir?.('/s/d')).toEqual(['1.vcl', '2.vcl']);
    expect(closed.readDir?.('/s')).toEqual(['main.vcl', 'y.vcl', 'd']);
    expect(closed.readDir?.('/')).toEqual(['s', 'p2']);
    expect(() => closed.readFile?.('/etc/hosts')).toThrow(/not in the bundle/);
  });

  it('is found by the compiler as it was on the disk', () => {
    disk['/s/main.vcl'] = source.text = source.text
      .replace('include "invalidate.vcl"; ', '')
      .replace(/acl.*/, '');
    const found = files(reader);
    expect(found.map(({ name }) => name)).toEqual([
      '/s/main.vcl',
      '/p2/x.vcl',
      '/s/y.vcl',
      '/s/d/1.vcl',
      '/s/d/2.vcl',
    ]);
    const { reader: closed } = sourceOf(makeBundle('a', reader.vclPath, filesOf(found), 'n', 0));
    expect(files(closed)).toEqual(found);
  });
});

describe('what is active', () => {
  const chosen = { name: 'a', id: 'f'.repeat(64), by: 'web-1', at: 1 };
  const active = { all: chosen, canary: { ...chosen, name: 'b', on: ['web-2'] } };

  it('is read as it was written, and is another on the nodes where one is tried', () => {
    expect(readActive(writeActive(active))).toEqual(active);
    expect(readActive(writeActive({ all: null, canary: null }))).toEqual({ all: null, canary: null });
    expect([chosenFor('web-1', active)?.name, chosenFor('web-2', active)?.name]).toEqual(['a', 'b']);
  });

  it.each([
    { v: 2, all: null, canary: null },
    { v: 1, all: { ...chosen, id: 'x' }, canary: null },
    { v: 1, all: { ...chosen, name: '../a' }, canary: null },
    { v: 1, all: null, canary: chosen },
    { v: 1, all: null, canary: { ...chosen, on: ['a b'] } },
    { v: 1, all: null },
  ])('%j is none', (value) => {
    expect(readActive(Buffer.from(JSON.stringify(value)))).toBe(null);
  });
});
