// Random histories of one, two and four threads over one store (test/harness/threads/histories.js): no reference
// leaks, no block has two owners, no wrong bytes, no invalidated or private responses are delivered, and all waiters
// are woken. PROXYD_HISTORIES=10000000 PROXYD_HISTORIES_SEED=7 runs one long one on four threads, from another seed.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const LONG = process.env.PROXYD_HISTORIES;
/** The seed that a failure names plays the same again, as far as threads ever do. */
const SEED = process.env.PROXYD_HISTORIES_SEED ?? String(1 + Math.floor(Math.random() * 1e6));
const PROGRAM = new URL('../harness/threads/histories.js', import.meta.url).pathname;

async function play(...args: string[]): Promise<{ ops: number }> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args], { maxBuffer: 1 << 24 });
  return JSON.parse(stdout) as { ops: number };
}

// A fault that comes once in two tries is one.

it.each([
  ['one thread', '--threads=1', '--ops=10000', '--seed=1'],
  ['two threads', '--threads=2', '--ops=20000', '--seed=1'],
  ['four threads', '--threads=4', '--ops=20000', `--seed=${SEED}`],
  ['four threads, few URLs, with delays', '--threads=4', '--ops=12000', '--seed=1', '--churn', '--delays'],
  [
    'four threads, few URLs, with delays',
    '--threads=4',
    '--ops=12000',
    `--seed=${SEED}`,
    '--churn',
    '--delays',
  ],
  [
    'four threads, few URLs, much that is private, with delays',
    '--threads=4',
    '--ops=12000',
    `--seed=${SEED}`,
    '--churn',
    '--secrets=0.4',
    '--delays',
  ],
  [
    'three threads, a store that grows',
    '--threads=3',
    '--ops=12000',
    `--seed=${SEED}`,
    '--size=50000000',
    '--delays',
  ],
])('%s: %s %s %s', async (_, ...args) => {
  expect((await play(...args)).ops).toBeGreaterThanOrEqual(10_000);
});

it.runIf(LONG !== undefined)('a long one', { timeout: 24 * 3_600_000 }, async () => {
  const figures = await play('--threads=4', `--ops=${LONG}`, `--seed=${SEED}`);
  console.log(JSON.stringify(figures));
  expect(figures.ops).toBeGreaterThanOrEqual(Number(LONG));
});
