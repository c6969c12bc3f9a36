// Thousands of random programs, whole and damaged, through the compiler: each gives a program or diagnostics with
// codes, in bounded time, and what compiles is loaded and runs random requests through its states without an
// exception that escapes or a fault of ours in the log. PROXYD_FUZZ is the number of programs, PROXYD_FUZZ_SEED
// where to begin; a failure names its seed.

import { describe, expect, it } from 'vitest';
import type { VclProgram } from '../../daemon/contract/context.ts';
import { STATES } from '../../daemon/contract/program.ts';
import { compile } from '../../daemon/extensions/compile-with-builtins.ts';
import { findExtension } from '../../daemon/extensions/registry.ts';
import { formatDiagnostics } from '../../daemon/vcl/diagnostics.ts';
import { loadProgram } from '../../daemon/vcl/loader.ts';
import { fakeDirector, taskOf } from '../daemon/vcl/fake-task.ts';
import { runs } from '../harness/runs.ts';
import { mutate } from './mutate.ts';
import { ProgramGrammar } from './program-grammar.ts';
import { Random } from './random.ts';

const COUNT = Number(process.env.PROXYD_FUZZ ?? runs(400));
const SEED = Number(process.env.PROXYD_FUZZ_SEED ?? 1);
/** Requests that run through each program that compiles. */
const REQUESTS = COUNT > 1000 ? 50 : 5;
/** Milliseconds that no program of this size may need, however busy the machine. */
const HANG = 20_000;
const VALUES = [
  '',
  'a',
  '1',
  '-5',
  'ab=1; c=2',
  'x'.repeat(500),
  'é',
  '\\1',
  '10.5',
  '%41',
  'a,b',
  '"q"',
  '\t',
  '99999999999999999999',
];

const options = {
  resolveHost: (name: string) => (name === 'localhost' ? ['127.0.0.1'] : []),
  readFile: (path: string) => {
    if (path.endsWith('x')) return 'sub included { }';
    throw Object.assign(new Error('none'), { code: 'ENOENT' });
  },
  readDir: () => [],
};

function runRequests(program: VclProgram, random: Random): number {
  let ended = 0;
  for (let i = 0; i < REQUESTS; i++) {
    const headers = Object.fromEntries(['n', 'X-A', 'Cookie', 'x.y'].map((h) => [h, random.pick(VALUES)]));
    const t = taskOf(program, headers);
    t.req.http.url = random.pick(VALUES);
    t.req.http.method = random.pick(['GET', 'POST', 'FOO', '']);
    const state = random.pick(STATES);
    const end = t.run(state);
    if (end === '?') throw new Error(`vcl_${state} has no end`);
    const faults = t.log.of('VCL_Error').filter((l) => l.startsWith('Internal'));
    if (faults.length > 0) throw new Error(`vcl_${state}: ${faults[0]}`);
    ended++;
  }
  return ended;
}

/** Whether the program compiled. Throws for everything that must not be. */
function attempt(text: string, random: Random): boolean {
  const start = performance.now();
  const result = compile({ name: 'fuzz', text }, options);
  if (performance.now() - start > HANG) throw new Error('the compiler hangs');
  if (result.program === undefined) {
    if (result.errors.length === 0) throw new Error('refused without a reason');
    if (result.errors.some((e) => e.code === '' || e.message === '' || e.line < 1)) {
      throw new Error('an error without code, text or place');
    }
    if (!formatDiagnostics(result.errors).includes('fuzz')) throw new Error('a message without a place');
    return false;
  }
  const directors = new Map(result.program.backends.map((b) => [b.name, fakeDirector(b.name)]));
  runRequests(loadProgram('fuzz', result.program, directors, findExtension), random);
  return true;
}

describe('random programs', () => {
  it(
    `are taken or refused in order (${COUNT} from seed ${SEED})`,
    () => {
      let compiled = 0;
      for (let i = 0; i < COUNT; i++) {
        const random = new Random(SEED + i);
        const whole = new ProgramGrammar(random).program();
        const text = i % 2 === 0 ? whole : mutate(whole, random);
        try {
          if (attempt(text, random)) compiled++;
        } catch (e) {
          throw new Error(`seed ${SEED + i}: ${(e as Error).message}\n${text}`, { cause: e });
        }
      }
      console.log(`${COUNT} programs, ${compiled} compiled and ran ${REQUESTS} requests each`);
      // A grammar that makes nothing but errors would test nothing after the checker.
      expect(compiled).toBeGreaterThan(COUNT / 20);
    },
    COUNT * 200 + 60_000,
  );
});
