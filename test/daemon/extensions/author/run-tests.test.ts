// The tests that authors write for their extensions: which rows are tests, and what passes and fails.
import { describe, expect, it } from 'vitest';
import { runTest, testFault } from '../../../../daemon/extensions/author/run-tests.ts';
import { adaptExtension } from '../../../../daemon/extensions/load/adapt.ts';
import type { ExtensionTest, OutsideExtension } from '../../../../daemon/extensions/load/interface.ts';
import { describedExtension, readManifest } from '../../../../daemon/extensions/load/manifest.ts';

const ended: unknown[] = [];
const exported: OutsideExtension = {
  abi: 1,
  functions: {
    twice: { signature: 'STRING twice(STRING s)', call: (_ctx, s) => s + s },
    where: { signature: 'STRING where()', call: (ctx) => `${ctx.state} ${ctx.session?.client.address}` },
    note: { signature: 'VOID note(STRING s)', call: (ctx, s) => ctx.log(s) },
    refuse: { signature: 'VOID refuse()', call: (ctx) => ctx.fail('not today') },
    made: {
      signature: 'BACKEND made(STRING host)',
      call: (ctx, host) => ctx.backendAt({ host, port: 8080 }),
    },
    name_of: { signature: 'STRING name_of(BACKEND b)', call: (_ctx, b) => `${b.name} ${b.healthy(0)}` },
    late: {
      signature: 'STRING late()',
      waits: true,
      call: () => new Promise((resolve) => setImmediate(resolve, 'done')),
    },
    cell: {
      signature: 'VOID cell(PRIV_TASK)',
      call: (_ctx, cell) => {
        cell.value = 'task';
        cell.end = (value: unknown) => ended.push(value);
      },
    },
  },
  objects: {
    box: {
      signature: 'box(INT n)',
      create: (ctx, _name, n) => (n < 0 ? ctx.fail('too small') : { n }),
      destroy: (self) => ended.push(self.n),
      methods: { n: { signature: 'INT n()', call: (_ctx, self) => self.n } },
    },
  },
};
const manifest = readManifest({ extension: exported }, 'ext');
const module = { name: 'ext', file: '/ext.mjs', copy: null, digest: '', kind: 'esm', manifest: '' } as const;
const described = { extension: describedExtension(manifest), module };
const opened = adaptExtension(manifest, exported);
const run = (test: Omit<ExtensionTest, 'name'>): Promise<string[]> =>
  runTest({ name: 'x', ...test }, described, opened);

describe('a test', () => {
  it.each<[string, Omit<ExtensionTest, 'name'>]>([
    ['its value', { value: 'ext.twice("a")', expect: 'aa' }],
    ['a header of the request', { headers: { 'X-A': 'b' }, value: 'ext.twice(req.http.x-a)', expect: 'bb' }],
    ['the url', { url: '/q', value: 'ext.twice(req.url)', expect: '/q/q' }],
    ['statements', { run: 'set req.http.y = "z";', value: 'ext.twice(req.http.y)', expect: 'zz' }],
    ['its state', { value: 'ext.where()', expect: 'recv 192.0.2.1' }],
    ['vcl_deliver', { state: 'deliver', value: 'ext.where()', expect: 'deliver 192.0.2.1' }],
    [
      'vcl_backend_fetch',
      { state: 'backend_fetch', value: 'ext.where()', expect: 'backend_fetch 192.0.2.1' },
    ],
    [
      'vcl_backend_response',
      { state: 'backend_response', value: 'ext.where()', expect: 'backend_response 192.0.2.1' },
    ],
    ['an answer that comes later', { value: 'ext.late()', expect: 'done' }],
    ['an object', { init: 'new b = ext.box(3);', value: 'b.n()', expect: '3' }],
    [
      'a declaration',
      { declare: 'backend b { .host = "192.0.2.9"; }', value: 'ext.name_of(b)', expect: 'b true' },
    ],
    ['a backend made at run time', { value: 'ext.made("192.0.2.9")', expect: '192.0.2.9:8080' }],
    ['log records', { run: 'ext.note("a"); ext.note("b");', logs: ['a', 'b'] }],
    ['a failure', { run: 'ext.refuse();', fails: 'not today' }],
    ['a failure of vcl_init', { init: 'new b = ext.box(-1);', run: 'b.n();', fails: 'too small' }],
    ['another extension', { declare: 'import std;', value: 'std.toupper(ext.twice("a"))', expect: 'AA' }],
  ])('has %s', async (_what, test) => {
    expect(await run(test)).toEqual([]);
  });

  it.each<[string, Omit<ExtensionTest, 'name'>, string[]]>([
    [
      'another value',
      { value: 'ext.twice("a")', expect: 'b' },
      ['value    ext.twice("a")', 'expected "b"', 'got      "aa"'],
    ],
    ['a failure', { value: 'ext.twice("a")', expect: 'aa', run: 'ext.refuse();' }, ['it failed: not today']],
    [
      'no failure',
      { run: 'ext.note("a");', fails: 'not' },
      ['expected a failure with "not", and nothing failed'],
    ],
    [
      'another failure',
      { run: 'ext.refuse();', fails: 'tomorrow' },
      ['expected a failure with "tomorrow"', 'it failed with      "not today"'],
    ],
    ['other records', { run: 'ext.note("a");', logs: [] }, ['expected log records []', 'got ["a"]']],
  ])('fails for %s', async (_what, test, faults) => {
    expect(await run(test)).toEqual(faults);
  });

  it('fails with the words of the compiler', async () => {
    const faults = await run({ value: 'ext.thrice("a")', expect: 'aaa' });
    expect(faults.join('\n')).toContain("Symbol not found: 'ext.thrice'");
    expect(faults.join('\n')).toContain('test "x"');
  });

  it('ends what it began', async () => {
    ended.length = 0;
    expect(await run({ init: 'new b = ext.box(3);', run: 'ext.cell(); b.n();' })).toEqual([]);
    expect(ended).toEqual(['task', 3]);
  });
});

describe('a row', () => {
  it.each<[unknown, string | null]>([
    [{ name: 'a', value: '1', expect: '1' }, null],
    [{ name: 'a', run: 'x;', fails: 'y', state: 'deliver', headers: { a: 'b' }, logs: ['c'] }, null],
    [null, 'it is not an object'],
    [{ value: '1', expect: '1' }, "it has no 'name'"],
    [{ name: 'a', value: 1, expect: '1' }, "its 'value' is no text"],
    [{ name: 'a', value: '1', expect: 1 }, "its 'expect' is no text"],
    [{ name: 'a' }, "it has neither 'value' nor 'run' nor 'init'"],
    [{ name: 'a', value: '1' }, "'value' and 'expect' belong together"],
    [{ name: 'a', run: 'x;', expect: '1' }, "'value' and 'expect' belong together"],
    [
      { name: 'a', run: 'x;', state: 'hash' },
      "its 'state' is not one of recv, deliver, backend_fetch, backend_response",
    ],
    [{ name: 'a', run: 'x;', headers: { a: 1 } }, "its 'headers' are no texts by name"],
    [{ name: 'a', run: 'x;', logs: 'a' }, "its 'logs' are not a list of texts"],
  ])('%j: %s', (row, fault) => {
    expect(testFault(row)).toBe(fault);
  });
});
