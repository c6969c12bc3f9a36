// Commands of a script for its daemon: arguments, programs, the CLI, expected counters.

import { matchesGlob } from '../../queries/fnmatch.ts';
import { matches } from './comparison.ts';
import type { DaemonEntity } from './daemon.ts';
import type { Answer } from './product.ts';
import { readInteger, readNumber, type Words } from './script.ts';

const OK = 200;
/** Seconds until a counter must have its value. */
const COUNTER_SECONDS = 5;

const cut = (text: string, length = 200): string => text.trim().replaceAll(/\s+/g, ' ').slice(0, length);

/** Commands and parameters for debugging, which proxyd need not have. */
const DEBUGGING = /^\s*(?:debug\.|param\.(?:re)?set\s+debug\b)/;

async function cli(daemon: DaemonEntity, line: string, wanted: number | null): Promise<Answer | null> {
  const answer = await daemon.cli(line);
  daemon.log(2, `CLI ${answer.status} <${line.slice(0, 200)}>`);
  const isMissing =
    !daemon.product.hasDebugging && DEBUGGING.test(line) && [101, 106].includes(answer.status);
  if (isMissing) return null;
  if (wanted !== null && answer.status !== wanted)
    daemon.fail(`CLI response ${answer.status} expected ${wanted} <${cut(line, 60)}>: ${cut(answer.body)}`);
  return answer;
}

async function cliMatches(daemon: DaemonEntity, words: Words): Promise<void> {
  const isNegated = daemon.stage.dialect >= 9 && words.peek() === '!';
  if (isNegated) words.take('!');
  const pattern = words.take('pattern');
  const line = words.take('command');
  const answer = await cli(daemon, line, null);
  if (answer !== null && matches(daemon, pattern, answer.body) === isNegated)
    daemon.fail(
      `CLI answer to <${cut(line, 60)}> ${isNegated ? 'matches' : 'does not match'} /${pattern}/: ${cut(answer.body)}`,
    );
}

async function cliJson(daemon: DaemonEntity, line: string): Promise<void> {
  const answer = await cli(daemon, line, OK);
  try {
    if (answer !== null) JSON.parse(answer.body);
  } catch {
    daemon.fail(`CLI answer to <${cut(line, 60)}> is not JSON: ${cut(answer?.body ?? '')}`);
  }
}

async function program(daemon: DaemonEntity, text: string, backends: string): Promise<void> {
  const { status, body } = await daemon.load(`vcl ${daemon.syntax};\n${backends}\n${text}`);
  if (status !== OK) daemon.fail(`VCL does not compile: ${body.slice(0, 1000)}`);
}

async function refusedProgram(daemon: DaemonEntity, words: Words): Promise<void> {
  const wanted = words.take('text of the error');
  const { status, body } = await daemon.load(`vcl ${daemon.syntax};\n${words.take('program')}`);
  if (status === OK) daemon.fail('VCL compilation succeeded, expected failure');
  if (body.includes(wanted)) return;
  if (daemon.product.hasVarnishErrors) daemon.fail(`VCL error lacks ("${wanted}"): ${cut(body, 300)}`);
  daemon.log(2, `VCL is refused, in other words than ("${wanted}"): ${cut(body)}`);
}

const OPERATORS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
};

/** The first counter that a pattern names; MAIN. may be left out. */
function lookUp(counters: readonly (readonly [string, number])[], pattern: string): number | null {
  const isShort = !pattern.includes('.');
  const glob = isShort ? `MAIN.${pattern}` : pattern;
  return counters.find(([name]) => matchesGlob(glob, name))?.[1] ?? null;
}

async function counter(daemon: DaemonEntity, words: Words): Promise<void> {
  await daemon.launch();
  const first = words.take('counter');
  const isUnwanted = first.startsWith('!');
  if (isUnwanted) {
    const name = first.slice(1);
    const isFound = await daemon.poll(
      async () => lookUp(await daemon.counters(), name) !== null,
      COUNTER_SECONDS,
      0.1,
    );
    if (isFound) daemon.fail(`Found (not expected): ${name}`);
    return;
  }
  const operator = words.take('operator');
  const right = words.take('number or counter');
  const holds = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
  if (holds === undefined) daemon.fail(`comparison ${operator} unknown`);
  let [a, b]: (number | null)[] = [null, null];
  const isTrue = await daemon.poll(
    async () => {
      const counters = await daemon.counters();
      a = lookUp(counters, first);
      b = /^[-+]?\d/.test(right) ? readInteger(right) : lookUp(counters, right);
      return a !== null && b !== null && holds(a, b);
    },
    COUNTER_SECONDS,
    0.05,
  );
  if (isTrue) daemon.log(2, `as expected: ${first} (${a}) ${operator} ${right} (${b})`);
  else if (a === null || b === null) daemon.fail(`counter ${a === null ? first : right} unknown`);
  else daemon.fail(`Not true: ${first} (${a}) ${operator} ${right} (${b})`);
}

async function show(daemon: DaemonEntity, pattern: string): Promise<void> {
  await daemon.launch();
  const glob = pattern.includes('.') ? pattern : `MAIN.${pattern}`;
  for (const [name, value] of await daemon.counters())
    if (matchesGlob(glob, name)) daemon.log(4, `vsc|${name} ${value}`);
}

/** @param backends declarations of all servers of the test */
export async function daemonCommand(
  daemon: DaemonEntity,
  words: Words,
  backends: () => string,
): Promise<void> {
  daemon.syntax = '4.1';
  while (!words.isDone) {
    const option = words.take('option');
    switch (option) {
      case '-arg':
        if (daemon.isRunning) daemon.fail('-arg after launch');
        daemon.args.push(words.take('argument'));
        break;
      case '-cleanup':
        await daemon.cleanUp();
        break;
      case '-cli':
        await cli(daemon, words.take('command'), null);
        break;
      case '-cliok':
        await cli(daemon, words.take('command'), OK);
        break;
      case '-clierr': {
        const status = readInteger(words.take('status'));
        await cli(daemon, words.take('command'), status);
        break;
      }
      case '-cliexpect':
        await cliMatches(daemon, words);
        break;
      case '-clijson':
        await cliJson(daemon, words.take('command'));
        break;
      case '-errvcl':
        await refusedProgram(daemon, words);
        break;
      case '-expect':
        await counter(daemon, words);
        break;
      case '-expectexit':
        daemon.expectedExit = readInteger(words.take('status'));
        break;
      case '-jail':
        daemon.jail = words.take('jail');
        break;
      case '-proto':
        daemon.protocol = words.take('protocol');
        break;
      case '-start':
        await daemon.start();
        break;
      case '-stop':
        await daemon.stopChild();
        break;
      case '-syntax': {
        const version = readNumber(words.take('version'));
        daemon.syntax = version.toFixed(1);
        break;
      }
      case '-vcl':
        await program(daemon, words.take('program'), '');
        break;
      case '-vcl+backend':
        await program(daemon, words.take('program'), backends());
        break;
      case '-vsc':
        await show(daemon, words.take('pattern'));
        break;
      case '-vsl_catchup':
        await daemon.launch();
        // The log is written with the turns of the daemon's loop.
        await daemon.sleep(0.2);
        break;
      case '-wait':
        await daemon.wait();
        break;
      case '-wait-running':
        await daemon.waitRunning();
        break;
      case '-wait-stopped':
        await daemon.waitStopped();
        break;
      default:
        daemon.fail(`Unknown varnish argument: ${option}`);
    }
  }
}
