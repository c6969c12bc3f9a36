// proxyd --lint FILE…: checks programs without loading them. Exit codes: 0 nothing to say (notes aside), 1 warnings,
// 2 errors, unreadable files and mistakes in the command line. Findings go to standard output, as -j or --json
// asks in one JSON document, so that an editor or a build can read them.
//
// Looks up no host name and opens no socket: what only the running proxy can know is taken as good.

import { readCommandLine } from '../../protocol/command-line.ts';
import { PROXYD_LINT } from '../../protocol/tables/proxyd-options.ts';
import { Params } from '../params/parameter-set.ts';
import { ParamError } from '../params/value.ts';
import type { Diagnostic } from '../vcl/diagnostics.ts';
import { findingsJson, formatFindings, formatTotals, totals } from '../vcl/lint/format.ts';
import { compilerFinding, type Finding, parseForLint, runRules } from '../vcl/lint/lint.ts';
import { makeCompiler } from './compiler.ts';
import { makeAccess } from './jail.ts';
import { OptionError } from './option-error.ts';
import { readProgramFile } from './program-file.ts';

/** What every host name is taken to mean: a documentation address. */
const ANY_ADDRESS = '192.0.2.1';

interface LintOptions {
  files: string[];
  json: boolean;
  params: Params;
}

function parse(argv: readonly string[]): LintOptions {
  const out: LintOptions = { files: [], json: false, params: new Params() };
  const { options, words, end } = readCommandLine(PROXYD_LINT, argv, '');
  for (const [name, value] of options) {
    if (name === 'json') out.json = true;
    else if (name === 'p') setParam(out.params, value);
    else if (value !== '') out.files.push(value);
  }
  if (end?.kind === 'mistake') throw new OptionError(`--lint: ${end.message}`);
  out.files.push(...words);
  if (out.files.length === 0) throw new OptionError('--lint needs a file');
  return out;
}

function setParam(params: Params, text: string): void {
  const at = text.indexOf('=');
  if (at < 0) throw new OptionError("\t-p lacks '='");
  const result = params.set(text.slice(0, at), text.slice(at + 1));
  if (result instanceof ParamError) throw new OptionError(`\n${result.text}`, false);
}

/** Checks one program; the compiler's findings come first. */
async function lintProgram(source: { name: string; text: string }, params: Params): Promise<Finding[]> {
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
  const told: Diagnostic[] = [...(result.errors ?? []), ...result.warnings];
  return [...told.map(compilerFinding), ...runRules(view)];
}

/** @returns the exit code */
export async function lintCommand(
  argv: readonly string[],
  out: (text: string) => void,
  err: (text: string) => void,
): Promise<number> {
  const { files, json, params } = parse(argv);
  const findings: Finding[] = [];
  let unreadable = false;
  for (const file of files) {
    const source = readProgramFile(file, params.text('vcl_path'), true);
    if (typeof source === 'string') {
      err(`Cannot read file '${file}' (${source})\n`);
      unreadable = true;
    } else findings.push(...(await lintProgram(source, params)));
  }
  const found = totals(findings);
  if (json) out(findingsJson(files, findings));
  else if (findings.length > 0) out(`${formatFindings(findings)}\n${formatTotals(found)}`);
  if (unreadable || found.errors > 0) return 2;
  return found.warnings > 0 ? 1 : 0;
}
