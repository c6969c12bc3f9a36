// proxyd --test-extension FILE: runs the tests of an extension in a process of its own, since this one never runs
// foreign code, as the user that the daemon would run it as. The exit code is that of
// daemon/extensions/author/test-main.ts.

import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { readCommandLine } from '../../protocol/command-line.ts';
import { inPackage } from '../../protocol/files/package-files.ts';
import { PROXYD_TEST_EXTENSION } from '../../protocol/tables/proxyd-options.ts';
import { makeAccess, parseJail } from './jail.ts';
import { OptionError } from './option-error.ts';

/** Longest time that all tests of a file may take together (chosen). */
const TIMEOUT_MS = 60_000;

/** Throws OptionError. */
export async function testExtensionCommand(
  argv: readonly string[],
  err: (text: string) => void,
): Promise<number> {
  const { options, words, end } = readCommandLine(PROXYD_TEST_EXTENSION, argv, '');
  if (end?.kind === 'mistake') throw new OptionError(`--test-extension: ${end.message}`);
  const files = options.flatMap(([name, value]) => (name === 'test-extension' ? [value] : []));
  const [file = ''] = files;
  if (files.length !== 1 || words.length > 0 || file === '')
    throw new OptionError('--test-extension needs one file');
  const jail = options.findLast(([name]) => name === 'j');
  const access = makeAccess({ jail: jail === undefined ? null : parseJail(jail[1]), readGroup: null });
  const account = JSON.stringify(access.jail?.describer ?? null);
  const main = inPackage('dist/daemon/extensions/author/test-main.js');
  const child = spawn(process.execPath, [main, resolve(file), account], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code, signal) => {
      if (code !== null) return done(code);
      const why = child.killed ? `the tests took more than ${TIMEOUT_MS / 1000} s` : `it crashed (${signal})`;
      err(`Error: ${file}: ${why}\n`);
      done(2);
    });
  });
}
