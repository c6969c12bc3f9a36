// Programs without a daemon: proxyd --lint and proxyd -C, their output streams and exit codes.
import { writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-offline');
afterAll(() => box.dispose());

function file(text: string): string {
  const path = box.path('program.vcl');
  writeFileSync(path, text);
  return path;
}

const GOOD = 'vcl 4.1;\nbackend b none;\n';

it.each([
  ['a sound program', GOOD, 0, /^$/],
  ['a doubtful one', `${GOOD}sub vcl_recv { return (hash); }\n`, 1, /:3:16: warning: .*\[hash-before-host\]/],
  ['a broken one', `${GOOD}sub vcl_recv { set req.foo = 1; }\n`, 2, /:3:20: error: /],
])('--lint of %s', async (_what, text, code, out) => {
  const done = await tool('proxyd', 'daemon', ['--lint', file(text)]);
  expect([done.code, done.stderr]).toEqual([code, '']);
  expect(done.stdout).toMatch(out);
});

it('--lint without a file is a mistake in the command line', async () => {
  const done = await tool('proxyd', 'daemon', ['--lint']);
  expect([done.code, done.stdout]).toEqual([2, '']);
  expect(done.stderr).toContain('--lint needs a file');
});

it('--lint -j is one JSON document', async () => {
  const done = await tool('proxyd', 'daemon', ['--lint', file(GOOD), '-j']);
  expect(JSON.parse(done.stdout)).toMatchObject({ errors: 0, warnings: 0, findings: [] });
});

it('-C prints the generated program of a good file and exits 2 on a bad one', async () => {
  const good = await tool('proxyd', 'daemon', ['-C', '-f', file(GOOD)]);
  expect([good.code, good.stderr]).toEqual([0, '']);
  expect(good.stdout).toContain('vcl_recv');
  const bad = await tool('proxyd', 'daemon', [
    '-C',
    '-f',
    file(`${GOOD}sub vcl_recv { set req.foo = 1; }\n`),
  ]);
  expect([bad.code, bad.stdout]).toEqual([2, '']);
  expect(bad.stderr).toContain('VCL compilation failed');
  const none = await tool('proxyd', 'daemon', ['-C', '-f', '/no/such/file.vcl']);
  expect([none.code, none.stdout]).toEqual([2, '']);
});
