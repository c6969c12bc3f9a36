// proxyd --test FILE.vcl: runs the tests of a program that are in FILE.test.vcl beside it. They need no socket, no backend and no daemon.
// Output in TAP format. Exit codes: 0 all passed, 1 one failed, 2 the program or its tests cannot be used.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readCommandLine } from '../../protocol/command-line.ts';
import { systemText } from '../../protocol/system-text.ts';
import { PROXYD_TEST } from '../../protocol/tables/proxyd-options.ts';
import { CoverageCounter, coverageText, lcovText } from './line-coverage.ts';
import { runTests, type TestRun, testNames, UnusableProgram } from './tests-of-program.ts';

/** An address for documentation (RFC 5737): tests resolve no names. */
const ANY_ADDRESS = '192.0.2.1';

interface TestOptions {
  readonly file: string;
  readonly vclPath: readonly string[];
  readonly isCovered: boolean;
  readonly lcov: string | null;
}

/** The text of an error where the arguments are wrong. */
function parse(argv: readonly string[]): TestOptions | string {
  const { options, words, end } = readCommandLine(PROXYD_TEST, argv, '');
  if (end?.kind === 'mistake') return `--test: ${end.message}`;
  const given = new Map(options);
  const files = [...options.filter(([name]) => name === 'test').map(([, value]) => value), ...words];
  const [file = ''] = files;
  if (files.length !== 1 || file === '') return '--test needs one file';
  return {
    file: resolve(file),
    vclPath: (given.get('vcl-path') ?? '').split(':').filter((path) => path !== ''),
    isCovered: given.has('coverage'),
    lcov: given.get('lcov') ?? null,
  };
}

/** FILE.test.vcl of FILE.vcl. */
function testFile(file: string): string {
  return `${file.replace(/\.vcl$/, '')}.test.vcl`;
}

function report({ results }: TestRun, out: (text: string) => void): number {
  out(`1..${results.length}\n`);
  for (const [i, { name, problem, milliseconds }] of results.entries()) {
    out(`${problem === null ? 'ok' : 'not ok'} ${i + 1} - ${name} # ${milliseconds.toFixed(1)} ms\n`);
    if (problem !== null) out(`  # ${problem.replaceAll('\n', '\n  # ')}\n`);
  }
  const failed = results.filter(({ problem }) => problem !== null).length;
  out(`# ${results.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

/** @returns the exit code */
export async function testCommand(
  argv: readonly string[],
  out: (text: string) => void,
  err: (text: string) => void,
): Promise<number> {
  const options = parse(argv);
  if (typeof options === 'string') {
    err(`Error: ${options}\n`);
    return 2;
  }
  const { file, vclPath, isCovered, lcov } = options;
  const path = testFile(file);
  for (const each of [file, path])
    if (!existsSync(each)) {
      err(
        `Cannot read file '${each}' (No such file or directory)${each === path ? `; the tests of ${file} belong there` : ''}\n`,
      );
      return 2;
    }
  const text = readFileSync(path, 'utf8');
  if (testNames(text).length === 0) {
    err(`${path} has no tests: they are subs whose names begin with test_\n`);
    return 2;
  }
  const counter = isCovered || lcov !== null ? new CoverageCounter() : null;
  await counter?.start();
  let run: TestRun;
  try {
    run = runTests(file, { path, text }, { vclPath, resolveHost: () => [ANY_ADDRESS], isOffline: true });
  } catch (cause) {
    if (!(cause instanceof UnusableProgram)) throw cause;
    err(`${cause.message}\n`);
    return 2;
  }
  const code = report(run, out);
  if (counter === null) return code;
  const covered = await counter.take(run.program, (name) => name.startsWith('/') && name !== path);
  if (isCovered) out(coverageText(covered));
  if (lcov === null) return code;
  try {
    writeFileSync(lcov, lcovText(covered));
  } catch (cause) {
    err(`Cannot write file '${lcov}' (${systemText(cause)})\n`);
    return 2;
  }
  return code;
}
