#!/usr/bin/env node
// proxytest: plays scripts of vtc(7) against proxyd, or against a Varnish that is installed. Options, output and exit codes are those of
// varnishtest: 0; 1 for wrong arguments; 2 when a test has failed; 77 when all were skipped.

import { setMaxListeners } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { type Ending, readCommandLine } from '../../protocol/command-line.ts';
import { packageVersion } from '../../protocol/files/package-files.ts';
import { PROXYTEST } from '../../protocol/tables/tools.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { printEnding } from '../process/command-end.ts';
import { flushOut, keepOutputManners, writeOut } from '../process/standard-output.ts';
import { makeVarnish, PROXYD } from '../proxytest/product.ts';
import { type RunOptions, runAll } from '../proxytest/run-all.ts';

const mistake = (message: string): Ending => ({ kind: 'mistake', message });

function count(given: ReadonlyMap<string, string>, option: string, otherwise: number): number | Ending {
  const text = given.get(option);
  if (text === undefined) return otherwise;
  const value = Number(text);
  return Number.isInteger(value) && value > 0
    ? value
    : mistake(`-${option}: '${text}' is not a positive number`);
}

function readArguments(argv: readonly string[]): RunOptions | Ending {
  const line = readCommandLine(PROXYTEST, argv, packageVersion());
  if (line.end !== null) return line.end;
  const given = new Map(line.options);
  const all = (option: string): string[] =>
    line.options.filter(([name]) => name === option).map(([, value]) => value ?? '');
  if (line.words.length === 0) return mistake('give the scripts to play');
  for (const file of line.words)
    try {
      accessSync(file, constants.R_OK);
    } catch (cause) {
      return mistake(
        `${file}: ${(cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : (cause as Error).message}`,
      );
    }
  const [rounds, jobs] = [count(given, 'n', 1), count(given, 'j', 1)];
  const seconds = count(given, 't', 60);
  for (const each of [rounds, jobs, seconds]) if (typeof each !== 'number') return each;
  const macros = new Map<string, string>();
  for (const definition of all('D')) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(definition) ?? [];
    if (name === undefined) return mistake(`-D: '${definition}' is not NAME=VALUE`);
    macros.set(name, value ?? '');
  }
  const wrong = all('p').find((each) => !/^[^=]+=/.test(each));
  if (wrong !== undefined) return mistake(`-p: '${wrong}' is not NAME=VALUE`);
  const on = given.get('on') ?? 'proxyd';
  if (on !== 'proxyd' && on !== 'varnish') return mistake(`--on: proxyd or varnish, not '${on}'`);
  const dialect = given.get('dialect') ?? '7';
  if (dialect !== '7' && dialect !== '9') return mistake(`--dialect: 7 or 9, not '${dialect}'`);
  const product = on === 'proxyd' ? PROXYD : makeVarnish();
  const missing = product.missing();
  if (missing !== null) return mistake(`--on varnish: not installed: ${missing}`);
  return {
    files: line.words.map((file) => resolve(file)),
    product,
    macros,
    parameters: all('p'),
    dialect: dialect === '9' ? 9 : 7,
    temporary: process.env.TMPDIR ?? tmpdir(),
    rounds: rounds as number,
    jobs: jobs as number,
    seconds: seconds as number,
    keepsGoing: given.has('k'),
    isQuiet: given.has('q'),
    isVerbose: given.has('v'),
    interrupted: interrupted(),
    leaves: given.has('L') ? 'all' : given.has('l') ? 'failed' : 'none',
  };
}

/** Tests end what they have started before this process ends; a second signal ends it at once. */
function interrupted(): AbortSignal {
  const controller = new AbortController();
  // A listener for each test that is played.
  setMaxListeners(0, controller.signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => controller.abort(signal));
  return controller.signal;
}

async function main(): Promise<number> {
  keepOutputManners('proxytest');
  guardTerminal([process.stdout, process.stderr]);
  const options = readArguments(process.argv.slice(2));
  if ('kind' in options) return printEnding(PROXYTEST, options);
  const code = await runAll(options, (text) => writeOut(Buffer.from(text, 'latin1').toString('latin1')));
  await flushOut();
  return code;
}

main().then(process.exit);
