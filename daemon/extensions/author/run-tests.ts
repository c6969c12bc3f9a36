// Runs the tests of an extension from a file: each is a small program that is compiled, loaded and run as in the
// proxy, in a request without a connection. The module is opened once, so state that it keeps outlives a test.

import { RETURN } from '../../../protocol/tables/returns.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext, VclProgram } from '../../contract/context.ts';
import type { DescribedModule, Extension } from '../../contract/extension.ts';
import { endPrivs } from '../../contract/priv.ts';
import { State } from '../../contract/program.ts';
import type { HttpMessage } from '../../http1/message.ts';
import { formatDiagnostics } from '../../vcl/diagnostics.ts';
import { finiProgram, initProgram, loadProgram } from '../../vcl/loader.ts';
import { runState, runWaitingState } from '../../vcl/runtime/run-state.ts';
import { compile } from '../compile-with-builtins.ts';
import type { ExtensionTest } from '../load/interface.ts';
import { findExtension } from '../registry.ts';
import { TrialLog, trialBackend, trialContext, trialFetch, trialRequest } from './trial-task.ts';

type TestState = NonNullable<ExtensionTest['state']>;

/** By state: the header that receives the value, and how the state returns. */
const STATES: Readonly<Record<TestState, { head: string; end: string }>> = {
  recv: { head: 'req', end: 'pass' },
  deliver: { head: 'resp', end: 'deliver' },
  backend_fetch: { head: 'bereq', end: 'fetch' },
  backend_response: { head: 'beresp', end: 'deliver' },
};

/** A header that no test sets. */
const RESULT = 'proxyd-test-result';

const TEXTS = ['value', 'expect', 'fails', 'run', 'init', 'declare', 'url'] as const;

/** Returns the error in a row of a test file; null if it is valid. */
export function testFault(row: unknown): string | null {
  if (typeof row !== 'object' || row === null) return 'it is not an object';
  const test = row as Record<string, unknown>;
  if (typeof test.name !== 'string' || test.name === '') return "it has no 'name'";
  for (const member of TEXTS) {
    if (test[member] !== undefined && typeof test[member] !== 'string') return `its '${member}' is no text`;
  }
  if (test.value === undefined && test.run === undefined && test.init === undefined)
    return "it has neither 'value' nor 'run' nor 'init'";
  if ((test.value === undefined) !== (test.expect === undefined) && test.fails === undefined)
    return "'value' and 'expect' belong together";
  if (test.state !== undefined && !(String(test.state) in STATES))
    return `its 'state' is not one of ${Object.keys(STATES).join(', ')}`;
  const { headers = {}, logs = [] } = test;
  if (typeof headers !== 'object' || headers === null || !areTexts(Object.values(headers)))
    return "its 'headers' are no texts by name";
  return Array.isArray(logs) && areTexts(logs) ? null : "its 'logs' are not a list of texts";
}

function areTexts(values: unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

/** The program of a test. */
function programText(test: ExtensionTest, extension: string): string {
  const state = test.state ?? 'recv';
  const { head, end } = STATES[state];
  const value = test.value === undefined ? '' : `  set ${head}.http.${RESULT} = ${test.value};\n`;
  return `vcl 4.1;
import ${extension} from "${extension}";
backend default none;
${test.declare ?? ''}
sub vcl_init {
  ${test.init ?? ''}
}
sub vcl_${state} {
  ${test.run ?? ''}
${value}  return (${end});
}
`;
}

/**
 * Runs one test.
 * @param described the extension as the compiler sees it; `opened` as programs call it
 * @returns the errors, in lines; empty when the test passed
 */
export async function runTest(
  test: ExtensionTest,
  described: DescribedModule,
  opened: Extension,
): Promise<string[]> {
  const name = `test "${test.name}"`;
  const outside = (): DescribedModule => described;
  const result = compile(
    { name, text: programText(test, opened.name) },
    { outside, errUnref: false, unsafePath: true },
  );
  if (result.program === undefined) return formatDiagnostics(result.errors).trimEnd().split('\n');
  const directors = new Map(result.program.backends.map((b) => [b.name, trialBackend(b.name)]));
  const lookup = (e: string): Extension | undefined => (e === opened.name ? opened : findExtension(e));
  const program = loadProgram(name, result.program, directors, lookup);
  program.makeBackend = ({ host, port = '80', path }) => trialBackend(path ?? `${host}:${port}`);
  const log = new TrialLog();
  const life = trialContext(program, log);
  const refusal = initProgram(program, life);
  const ctx = trialContext(program, log);
  const failure = refusal ?? (await runOnce(test, program, ctx));
  const faults = judge(test, failure, ctx, log);
  endPrivs(ctx.req?.topPrivs ?? null);
  endPrivs(ctx.priv);
  finiProgram(program, life);
  return faults;
}

/** Runs the state of a test; returns the reason of its failure, or null. */
async function runOnce(test: ExtensionTest, program: VclProgram, ctx: VclContext): Promise<string | null> {
  const state = test.state ?? 'recv';
  const asked = { url: test.url ?? '/', headers: test.headers ?? {} };
  if (state.startsWith('backend_')) ctx.bo = trialFetch(ctx, asked);
  else ctx.req = trialRequest(ctx, asked);
  const id = State[state];
  const steps = program.waiting[id] ?? null;
  const code =
    steps === null
      ? runState(program, id, ctx)
      : await new Promise<number>((resolve) => {
          const atOnce = runWaitingState(program, id, steps, ctx, resolve);
          if (atOnce !== null) resolve(atOnce);
        });
  return code === RETURN.fail ? (ctx.failure ?? 'it failed without a text') : null;
}

function judge(test: ExtensionTest, failure: string | null, ctx: VclContext, log: TrialLog): string[] {
  if (test.fails !== undefined) {
    if (failure === null) return [`expected a failure with ${quoted(test.fails)}, and nothing failed`];
    if (failure.includes(test.fails)) return [];
    return [`expected a failure with ${quoted(test.fails)}`, `it failed with      ${quoted(failure)}`];
  }
  if (failure !== null) return [`it failed: ${failure}`];
  const faults: string[] = [];
  if (test.expect !== undefined) {
    const got = headOf(test, ctx).get(RESULT) ?? '';
    if (got !== test.expect) {
      faults.push(`value    ${test.value}`, `expected ${quoted(test.expect)}`, `got      ${quoted(got)}`);
    }
  }
  const logged = log.of(Tag.VCL_Log);
  if (test.logs !== undefined && JSON.stringify(logged) !== JSON.stringify(test.logs))
    faults.push(`expected log records ${JSON.stringify(test.logs)}`, `got ${JSON.stringify(logged)}`);
  return faults;
}

function headOf(test: ExtensionTest, { req, bo }: VclContext): HttpMessage {
  const { head } = STATES[test.state ?? 'recv'];
  const heads = { req: req?.http, resp: req?.resp, bereq: bo?.bereq, beresp: bo?.beresp };
  return heads[head as keyof typeof heads] as HttpMessage;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
