// The commands for authors of programs and extensions.
//
// proxyd --lint FILE… checks programs without loading them. Exit codes: 0 no findings (notes aside), 1 warnings, 2 errors,
// unreadable files and usage errors. Findings go to standard output, with -j or --json as one JSON document for editors and
// builds. It resolves no host name and opens no socket.
//
// proxyd --test-extension FILE runs the tests of an extension in a child process, as the user that the daemon would run it
// as, since this process never runs foreign code. The exit code is that of daemon/extensions/author/test-main.ts.

import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { readCommandLine } from '../../protocol/command-line.ts';
import { inPackage } from '../../protocol/files/package-files.ts';
import { PROXYD_LINT, PROXYD_TEST_EXTENSION } from '../../protocol/tables/proxyd-options.ts';
import { RELEASES, type Release } from '../../protocol/tables/release-changes.ts';
import { Params } from '../params/parameter-set.ts';
import { ParamError } from '../params/value.ts';
import type { Diagnostic } from '../vcl/diagnostics.ts';
import { findingsJson, formatFindings, formatTotals, totals } from '../vcl/lint/format.ts';
import { compilerFinding, type Finding, parseForLint, runRules } from '../vcl/lint/lint.ts';
import { RELEASE_RULES } from '../vcl/lint/rules/releases.ts';
import { RULES } from '../vcl/lint/rules.ts';
import { OptionError } from './options/option-error.ts';
import { makeAccess, parseJail } from './process/jail.ts';
import { makeCompiler } from './programs/compiler.ts';
import { readProgramFile } from './start-files.ts';

/** The address used for every host name (RFC 5737, documentation). */
const ANY_ADDRESS = '192.0.2.1';

interface LintOptions {
  files: string[];
  json: boolean;
  params: Params;
  /** Changes for the program with this one are shown, too; null: none. */
  release: Release | null;
}

function parse(argv: readonly string[]): LintOptions {
  const out: LintOptions = { files: [], json: false, params: new Params(), release: null };
  const { options, words, end } = readCommandLine(PROXYD_LINT, argv, '');
  for (const [name, value] of options) {
    if (name === 'json') out.json = true;
    else if (name === 'release') out.release = releaseOf(value, out.params);
    else if (name === 'p') setParam(out.params, value);
    else if (value !== '') out.files.push(value);
  }
  if (end?.kind === 'mistake') throw new OptionError(`--lint: ${end.message}`);
  out.files.push(...words);
  if (out.files.length === 0) throw new OptionError('--lint needs a file');
  return out;
}

function releaseOf(text: string, params: Params): Release {
  const release = RELEASES.find((one) => one === text);
  if (release === undefined) throw new OptionError(`--release: one of ${RELEASES.join(', ')}`);
  setParam(params, `varnish_release=${release}`);
  return release;
}

function setParam(params: Params, text: string): void {
  const at = text.indexOf('=');
  if (at < 0) throw new OptionError("\t-p lacks '='");
  const result = params.set(text.slice(0, at), text.slice(at + 1));
  if (result instanceof ParamError) throw new OptionError(`\n${result.text}`, false);
}

/** Checks one program; the compiler's findings come first. */
async function lintProgram(
  source: { name: string; text: string },
  { params, release }: LintOptions,
): Promise<Finding[]> {
  const vclPath = params.text('vcl_path').split(':');
  const { view, labels } = parseForLint(source, { vclPath, idHeader: params.text('id_header') });
  const compile = makeCompiler(
    params,
    [],
    () => labels,
    {
      directory: null,
      inUse: () => [],
      account: makeAccess({ jail: null, readGroup: null }).jail?.describer ?? null,
    },
    async () => [ANY_ADDRESS],
  );
  const result = await compile(source);
  const diagnostics: Diagnostic[] = [...(result.errors ?? []), ...result.warnings];
  return [
    ...diagnostics.map(compilerFinding),
    ...runRules(view, release === '9.0' ? [...RULES, ...RELEASE_RULES] : RULES),
  ];
}

/** @returns the exit code */
export async function lintCommand(
  argv: readonly string[],
  out: (text: string) => void,
  err: (text: string) => void,
): Promise<number> {
  const options = parse(argv);
  const { files, json, params } = options;
  const findings: Finding[] = [];
  let unreadable = false;
  for (const file of files) {
    const source = readProgramFile(file, params.text('vcl_path'), true);
    if (typeof source === 'string') {
      err(`Cannot read file '${file}' (${source})\n`);
      unreadable = true;
    } else findings.push(...(await lintProgram(source, options)));
  }
  const found = totals(findings);
  if (json) out(findingsJson(files, findings));
  else if (findings.length > 0) out(`${formatFindings(findings)}\n${formatTotals(found)}`);
  if (unreadable || found.errors > 0) return 2;
  return found.warnings > 0 ? 1 : 0;
}

/** Time limit for all tests of a file together (chosen). */
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
