// The scenarios over HTTP/2 on both daemons: responses, requests to the origin, counters, answers of the tools. Varnish
// answers most as over HTTP/1, but for the spelling of names, and the recording says so; else it has the answer.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { SCENARIOS_OVER_HTTP2 } from './http2-known.ts';
import { LUCK } from './luck.ts';
import { MODE, type Reference, recording } from './recording.ts';
import { readRecording } from './recording-text.ts';
import { ONLY_HTTP1 } from './requests-over-http2.ts';
import { playScenarios, type Scenario, scenarioInput, scenarios, titleOf } from './scenario-play.ts';
import { CaseTimes } from './slow-machine.ts';
import { varnishKnows } from './varnish-modules.ts';

const AS_OVER_HTTP1 = 'as over HTTP/1';
/** Fields about a connection, which HTTP/2 does not have. */
const OF_CONNECTIONS = /^(?:connection|keep-alive|transfer-encoding): /i;

/** Lines without what HTTP/2 spells in another way, or not at all. */
function common(lines: readonly string[]): string[] {
  return lines
    .filter((line) => !OF_CONNECTIONS.test(line))
    .map((line) => line.replace(/^(\d{3}) .*$/, '$1').replace(/^[\w-]+: /, (name) => name.toLowerCase()));
}

/** Without the log of the sessions, which comes after the last step. */
function withoutLog(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line.startsWith('> '));
  const at = lines.findIndex((line, i) => i > last && line.startsWith('* Session '));
  return at < 0 ? lines : lines.slice(0, at);
}

/** Varnish's answers to the scenarios of a file over HTTP/1. */
function overHttp1(file: string): ReadonlyMap<string, string[]> {
  const text = readFileSync(new URL(`recorded/scenarios/${file}.txt`, import.meta.url), 'utf8');
  const { entries } = readRecording(text);
  return new Map(
    [...entries].map(([name, { reported }]) => [name, common(withoutLog(reported as string[]))]),
  );
}

const all = scenarios().filter((s) =>
  varnishKnows(...[...s.program.matchAll(/\bimport (\w+)/g)].map((m) => m[1] ?? '')),
);
const over2 = recording('http2-scenarios');

describe('a scenario over HTTP/2', () => {
  const box = new Sandbox('proxyd-http2-scenarios');
  const times = new CaseTimes();
  const over1 = new Map([...new Set(all.map((s) => s.file))].map((file) => [file, overHttp1(file)]));
  let reference: Reference<string[]>;
  let ours: string[][] = [];

  const first = ({ file, name }: Scenario): string[] => over1.get(file)?.get(name) ?? [];

  beforeAll(async () => {
    const [theirs, own] = await Promise.all([
      MODE === 'replay' ? null : playScenarios(box, 'varnish', all, undefined, 'scenarios', 'HTTP/2'),
      MODE === 'record' ? [] : playScenarios(box, 'proxyd', all, times, 'scenarios', 'HTTP/2'),
    ]);
    ours = own;
    const reported = (scenario: Scenario, i: number): string[] => {
      const lines = common(withoutLog(theirs?.[i] ?? []));
      return String(lines) === String(first(scenario)) ? [AS_OVER_HTTP1] : lines;
    };
    const inputs = new Map(all.map((s) => [titleOf(s), scenarioInput(s)]));
    reference = over2.settle(inputs, theirs && new Map(all.map((s, i) => [titleOf(s), reported(s, i)])));
  }, 600_000);
  afterAll(() => box.dispose());

  it('explains only scenarios that exist', () => {
    const names = new Set(all.map(titleOf));
    expect(Object.keys(SCENARIOS_OVER_HTTP2).filter((name) => !names.has(name))).toEqual([]);
  });

  it.for(all.map((s, i) => [titleOf(s), i] as const))('%s', ([name, i], { skip }) => {
    skip(MODE === 'replay' && name in LUCK, LUCK[name]);
    const reported = reference.get(name);
    skip(reported[0]?.startsWith(ONLY_HTTP1) === true, reported[0] ?? '');
    const known = SCENARIOS_OVER_HTTP2[name];
    skip(known !== undefined, known ?? '');
    const theirs = reported[0] === AS_OVER_HTTP1 ? first(all[i] as Scenario) : reported;
    const mine = times.allow(name, common(withoutLog(ours[i] ?? [])), theirs);
    const at = theirs.findIndex((line, k) => line !== mine[k]);
    expect(mine.slice(at < 0 ? theirs.length : at)).toEqual(at < 0 ? [] : theirs.slice(at));
  });
});
