// proxyd --test-extension: the template passes, and errors of an extension or its tests are reported with their
// position.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { ROOT, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-test-ext');
const folder = box.path('ext');
mkdirSync(folder, { recursive: true });
afterAll(() => box.dispose());

/** Writes an extension and its tests, and runs them. */
async function tested(name: string, extension: string, tests: string | null) {
  const file = join(folder, name);
  writeFileSync(file, extension);
  if (tests !== null) writeFileSync(file.replace(/\.\w+$/, '.test.mjs'), tests);
  return tool('proxyd', 'daemon', ['--test-extension', file]);
}

const ONE = `export const extension = { abi: 1, functions: {
  one: { signature: 'INT one()', help: 'One.', call: () => 1 },
  bare: { signature: 'INT bare()', call: () => 1 } } };`;

it('passes the template', async () => {
  const file = join(folder, 'greeting.mjs');
  for (const name of ['greeting.mjs', 'greeting.test.mjs'])
    copyFileSync(join(ROOT, 'daemon/extensions/template', name), join(folder, name));
  const done = await tool('proxyd', 'daemon', ['--test-extension', file]);
  expect(done).toMatchObject({ code: 0, stderr: '' });
  expect(done.stdout).toMatch(/^# greeting: .*greeting\.mjs\n1\.\.6\nok 1 - greets the world\n/);
  expect(done.stdout).not.toContain('no help');
  expect(done.stdout.match(/^ok \d/gm)).toHaveLength(6);
});

it('reports which test fails and why, and what has no help', async () => {
  const tests = `export default [{ name: 'is one', value: 'one.one()', expect: '1' },
    { name: 'is two', value: 'one.one()', expect: '2' }, { name: 'is not', value: 'one.none()', expect: '' }];`;
  const done = await tested('one.mjs', ONE, tests);
  expect(done).toMatchObject({ code: 1, stderr: '' });
  expect(done.stdout).toContain('# one.bare has no help\n1..3\nok 1 - is one\nnot ok 2 - is two\n');
  expect(done.stdout).toContain('  # value    one.one()\n  # expected "2"\n  # got      "1"\n');
  expect(done.stdout).toMatch(/not ok 3 - is not\n(?: {2}# .*\n)+? {2}# Symbol not found/);
});

it('checks an extension without tests', async () => {
  const done = await tested('alone.js', ONE.replace('export const extension', 'exports.extension'), null);
  expect(done).toMatchObject({ code: 0, stderr: '' });
  expect(done.stdout).toContain(`# no tests: they belong in ${join(folder, 'alone.test.mjs')}\n1..0\n`);
});

it.each([
  [
    'two.mjs',
    ONE.replace('abi: 1', 'abi: 2'),
    null,
    'it was written for version 2 of the interface, this is 1',
  ],
  ['odd.mjs', ONE.replace('INT one()', 'INTEGER one()'), null, 'function one: '],
  ['place.mjs', ONE.replace("help: 'One.'", "places: 'somewhere'"), null, "there is no state 'somewhere'"],
  ['list.mjs', ONE, 'export const tests = 5;', "it exports neither a list 'tests' nor a default"],
  ['row.mjs', ONE, 'export const tests = [{}];', "test 1: it has no 'name'"],
  ['dead-end.mjs', ONE, null, "'dead-end' is not a valid name for an import"],
])('refuses %s', async (name, extension, tests, message) => {
  const done = await tested(name, extension, tests);
  expect([done.code, done.stderr]).toEqual([2, expect.stringContaining(message)]);
});

it.each([
  ['leaves.mjs', 'process.exit(0)', /^Error: the extension ended the process\n$/],
  ['crashes.mjs', "process.kill(process.pid, 'SIGSEGV')", /: it crashed \(SIGSEGV\)\n$/],
  [
    'throws.mjs',
    "new Promise(() => setTimeout(() => { throw new Error('stray'); }))",
    /^Error: stray\n +at .*throws\.mjs/,
  ],
])('calls no test passed when its extension %s', async (name, code, message) => {
  const extension = `export const extension = { abi: 1, functions: {
    odd: { signature: 'VOID odd()', waits: true, call: () => ${code} } } };`;
  const tests = `export const tests = [{ name: 'x', run: '${name.slice(0, -4)}.odd();' }];`;
  const done = await tested(name, extension, tests);
  expect([done.code, done.stderr]).toEqual([2, expect.stringMatching(message)]);
});

it('refuses a file that is not there, and words it does not know', async () => {
  const missing = await tool('proxyd', 'daemon', ['--test-extension', join(folder, 'nowhere.mjs')]);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('no such file')]);
  const many = await tool('proxyd', 'daemon', ['--test-extension', 'a', 'b']);
  expect([many.code, many.stderr]).toEqual([2, expect.stringContaining('--test-extension needs one file')]);
});
