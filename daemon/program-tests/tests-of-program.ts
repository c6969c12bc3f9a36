// Compiles a program with the tests beside it, and runs them one after the other, each with a request of its own.

import type { Director, VclProgram } from '../contract/context.ts';
import { VclFailure } from '../contract/failure.ts';
import { endPrivs } from '../contract/priv.ts';
import { TrialLog, trialBackend, trialContext } from '../extensions/author/trial-task.ts';
import { compile } from '../extensions/compile-with-builtins.ts';
import { extensionNames, findExtension } from '../extensions/registry.ts';
import type { CompileOptions } from '../vcl/compile.ts';
import { formatDiagnostics } from '../vcl/diagnostics.ts';
import { finiProgram, initProgram, loadProgram } from '../vcl/loader.ts';
import { programPlace } from '../vcl/runtime/run-state.ts';
import { SubReturned, type SubValue } from '../vcl/runtime/sub-value.ts';
import { type TestBench, testExtension } from './assertions.ts';
import { stageFor } from './trial-stage.ts';

export interface TestResult {
  /** The sub's name without test_. */
  readonly name: string;
  /** Null if it passed. */
  readonly problem: string | null;
  readonly milliseconds: number;
}

export interface TestRun {
  readonly results: readonly TestResult[];
  readonly program: VclProgram;
}

/** The program or its tests cannot be used; the message is that of the compiler or of vcl_init. */
export class UnusableProgram extends Error {}

const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*|#.*|"[^"\n]*"|\{"[\s\S]*?"\}/g;

/** Names of the subs that are tests, in their order. */
export function testNames(text: string): string[] {
  const code = text.replaceAll(COMMENTS, (found) => ' '.repeat(found.length));
  return [...code.matchAll(/\bsub\s+(test_\w+)/g)].map(([, name]) => name as string);
}

/** The program with its tests: they register themselves before anything of the program runs. */
function wrapper(program: string, tests: string, names: readonly string[]): string {
  const registered = names.map((name) => `\ttest.register(${name});\n`).join('');
  return `vcl 4.1;\nimport test;\nsub vcl_init {\n${registered}}\ninclude "${program}";\ninclude "${tests}";\n`;
}

function backends(names: readonly string[], bench: TestBench): Map<string, Director> {
  return new Map(
    names.map((name) => {
      const backend: Director = {
        ...trialBackend(name),
        healthy: () => !bench.sick.has(name),
        resolve: () => backend,
      };
      return [name, backend];
    }),
  );
}

/** The error as text, with its place in the program. */
function problemOf(program: VclProgram, cause: unknown): string {
  const error = cause as Error;
  const place = programPlace(program, error);
  const text = error instanceof VclFailure ? error.message : `Internal error: ${error.message}`;
  return place === null ? text : `${text} at ${place}`;
}

function runTest(program: VclProgram, bench: TestBench, sub: SubValue): TestResult {
  const began = performance.now();
  const stage = stageFor(program);
  bench.stage = stage;
  bench.sick.clear();
  let problem: string | null = null;
  try {
    sub.runAnywhere(stage.ctx);
  } catch (cause) {
    if (!(cause instanceof SubReturned)) problem = problemOf(program, cause);
  } finally {
    bench.stage = null;
    endPrivs(stage.ctx.priv);
  }
  return { name: sub.name.replace(/^test_/, ''), problem, milliseconds: performance.now() - began };
}

/**
 * @param program path of the program
 * @param tests path of its tests, and their text
 * @param loaded called with the name of the program's script before anything of it runs
 * Throws UnusableProgram.
 */
export function runTests(
  program: string,
  tests: { readonly path: string; readonly text: string },
  options: CompileOptions,
): TestRun {
  const bench: TestBench = { stage: null, tests: [], sick: new Set() };
  const extension = testExtension(bench);
  const lookup: typeof findExtension = (name) => (name === 'test' ? extension : findExtension(name));
  const source = { name: 'tests', text: wrapper(program, tests.path, testNames(tests.text)) };
  const result = compile(source, {
    ...options,
    errUnref: false,
    extensions: lookup,
    extensionNames: [...extensionNames(), 'test'],
  });
  if (result.program === undefined) throw new UnusableProgram(formatDiagnostics(result.errors).trimEnd());
  const directors = backends(
    result.program.backends.map(({ name }) => name),
    bench,
  );
  const loaded = loadProgram('tests', result.program, directors, lookup);
  loaded.makeBackend = ({ host, port = '80', path }) => trialBackend(path ?? `${host}:${port}`);
  const life = trialContext(loaded, new TrialLog());
  const refusal = initProgram(loaded, life);
  if (refusal !== null) throw new UnusableProgram(`vcl_init: ${refusal}`);
  const results = bench.tests.map((sub) => runTest(loaded, bench, sub));
  finiProgram(loaded, life);
  return { results, program: loaded };
}
