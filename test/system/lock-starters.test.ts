// Processes that want one lock at the same moment, where there is none and where there is a stale one: one of them has it.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ROOT } from '../harness/proxy.ts';

const ROUNDS = 150;

it('one has it, each time, and nothing is left of the others', () => {
  const text = execFileSync(process.execPath, [`${ROOT}test/harness/lock-starters.js`, String(ROUNDS)]);
  expect(JSON.parse(text.toString())).toEqual({
    owners: { nothing: { 1: ROUNDS }, dead: { 1: ROUNDS }, empty: { 1: ROUNDS } },
    left: [],
  });
});
