import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LATER, LIVE_ONLY } from './differential/live-only.ts';

const CORES = availableParallelism();
/** Files at a time of tests that drive processes, and mostly wait for them. */
const SIDE_BY_SIDE = Math.max(4, CORES);
const MEASURED = 'test/harness/file-cpu.ts';

// Four projects; test/README.md says what belongs into which, and harness/tier.js which of them make up a tier. A test
// has one try.
// Consoles under test leave no compiled code in the home of whoever runs the tests.
process.env.NODE_DISABLE_COMPILE_CACHE = '1';

/** Programs under test are those of dist/, which is built first where it is older than the sources. */
const compiled = {
  globalSetup: ['test/harness/global-setup.ts'],
  setupFiles: [MEASURED],
  // As unit tests: a process for each file spends a second on loading the same modules.
  isolate: false,
  maxWorkers: SIDE_BY_SIDE,
  testTimeout: 300_000,
};
/** Proxies overwrite what was lent and what is freed, and check each step, unless PROXYD_POISON=0 says otherwise. */
const poisoned = { PROXYD_POISON: process.env.PROXYD_POISON ?? '1' };

/** A quick tier and a record of Varnish's answers leave out what has no recording; the former also what takes long. */
function peersLeftOut(): string[] {
  if (process.env.PROXYD_TIER === 'quick') return [...Object.keys(LIVE_ONLY), ...Object.keys(LATER)];
  return process.env.PROXYD_PEERS === 'record' ? Object.keys(LIVE_ONLY) : [];
}

/** With tier `rest`, only what a quick tier leaves out. */
function peersWanted(): string[] {
  if (process.env.PROXYD_TIER !== 'rest') return ['test/{differential,conformance}/**/*.test.ts'];
  return [...Object.keys(LIVE_ONLY), ...Object.keys(LATER)].map((file) => `test/${file}`);
}

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    // Limits for what hangs: a machine that does twenty other things keeps them.
    testTimeout: 60_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Enough of both sides to see in a report what differs.
    chaiConfig: { truncateThreshold: 300 },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/{protocol,queries,console,daemon,fuzz,structure}/**/*.test.{ts,tsx}'],
          // Files share imported modules: half of the time was spent loading the same modules for each. So no test
          // may replace a module (vi.mock); dependencies are passed in.
          isolate: false,
          setupFiles: [MEASURED, 'test/harness/property-runs.ts'],
          // As the console runs: React's development build takes a fifth more.
          env: { NODE_ENV: 'production' },
          // Some files wait for timers or for children: as many as there are cores would leave those idle.
          maxWorkers: CORES + 1,
        },
        oxc: { jsx: { runtime: 'automatic', development: false } },
      },
      {
        extends: true,
        test: {
          ...compiled,
          name: 'smoke',
          include: ['test/smoke/**/*.test.ts'],
          env: poisoned,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...compiled,
          name: 'peers',
          include: peersWanted(),
          exclude: peersLeftOut().map((file) => `test/${file}`),
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...compiled,
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          setupFiles: [MEASURED, 'test/harness/threads-of-file.ts'],
          env: poisoned,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
