// The extension `test`, which exists in tests of programs only: runs states, sets the objects and responses that the request
// meets, and asserts.

import type { Director } from '../contract/context.ts';
import type { Extension } from '../contract/extension.ts';
import { VclFailure } from '../contract/failure.ts';
import { STATES, type StateName } from '../contract/program.ts';
import { byName, row } from '../extensions/extension-rows.ts';
import type { VclIp } from '../vcl/runtime/ip.ts';
import type { SubValue } from '../vcl/runtime/sub-value.ts';
import type { TrialStage } from './trial-stage.ts';

/** Where a test of the present program stands. */
export interface TestBench {
  /** Null outside of a test: in vcl_init and vcl_fini. */
  stage: TrialStage | null;
  readonly tests: SubValue[];
  /** Backends that tests have made sick, by name. */
  readonly sick: Set<string>;
}

const PLAYED: readonly StateName[] = STATES.filter((state) => state !== 'init' && state !== 'fini');

function fail(text: string, note: string | undefined): never {
  throw new VclFailure(note === undefined || note === '' ? text : `${note}: ${text}`);
}

export function testExtension(bench: TestBench): Extension {
  const stage = (name: string): TrialStage => {
    if (bench.stage === null) throw new VclFailure(`test.${name}() is for subs of tests`);
    return bench.stage;
  };
  const quoted = (text: string): string => JSON.stringify(text);
  // biome-ignore format: a row is a line
  const functions = byName(
    row(`STRING run(ENUM { ${PLAYED.join(', ')} } state)`, (_, state: StateName) => stage('run').run(state), 'Runs a state, with the builtin program behind it, and returns its action: hash, pass, synth …'),
    row('STRING call(SUB sub)', (_, sub: SubValue) => stage('call').call(sub), 'Calls a sub of the program, and returns its action; empty for none.'),
    row('VOID that(BOOL condition, [STRING note])', (_, holds: boolean, note?: string) => {
      if (!holds) fail('it does not hold', note);
    }, 'The condition must hold.'),
    row('VOID equal(STRING got, STRING wanted, [STRING note])', (_, got: string, wanted: string, note?: string) => {
      if (got !== wanted) fail(`got ${quoted(got)}, wanted ${quoted(wanted)}`, note);
    }, 'Two texts must be equal.'),
    row('VOID fail(STRING note)', (_, note: string) => fail('failed', note), 'The test fails here.'),
    row('VOID client(IP ip)', (_, ip: VclIp) => stage('client').setClient(ip.text), 'The address of the client; 192.0.2.1 before.'),
    row('VOID sick(BACKEND backend)', (_, backend: Director | null) => {
      if (backend !== null) bench.sick.add(backend.vclName);
    }, 'The backend is sick from here to the end of the test; all others are healthy.'),
    row('VOID object([INT hits], [DURATION age])', (_, hits?: number, age?: number) => {
      const { object } = stage('object');
      object.hits = hits ?? object.hits;
      object.age = age ?? object.age;
    }, 'Facts of the object that vcl_hit and vcl_deliver see; its headers and lifetimes are those of beresp.'),
    row('VOID restarts(INT count)', (_, count: number) => stage('restarts').setRestarts(count), 'How often the request has been restarted.'),
    row('VOID retries(INT count)', (_, count: number) => stage('retries').setRetries(count), 'How often the fetch has been retried.'),
    row('VOID esi_level(INT level)', (_, level: number) => stage('esi_level').setEsiLevel(level), 'How deep the request is in a page.'),
    row('VOID background(BOOL is)', (_, is: boolean) => stage('background').setBackground(is), 'Whether the fetch is in the background.'),
    row('STRING key()', () => stage('key').key, 'What vcl_hash has put into the key, with a bar after each part.'),
    row('STRING body()', () => stage('body').body, 'The body that vcl_synth or vcl_backend_error has made.'),
    row('STRING failure()', () => stage('failure').failure ?? '', 'Why the last state failed; empty if it did not.'),
    row('BOOL logged(STRING text)', (_, text: string) => stage('logged').hasLogged(text), 'Whether std.log() has written a text with this in it.'),
    row('VOID register(SUB sub)', (_, sub: SubValue) => void bench.tests.push(sub), 'For the runner.'),
  );
  return { name: 'test', help: 'Tests of programs, for proxyd --test.', functions };
}
