import { defineConfig } from 'vitest/config';

// Three projects of one run, one after the other: `unit` mirrors the source tree and imports it; `system` drives the
// compiled programs in dist/, and `peers` compares them with other daemons and public suites. Both run file by file,
// after a global setup has built them. What drives processes gets a second try, and harness/second-tries.ts names the
// tests that needed it.
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    globalSetup: ['test/harness/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A second, which is what it is otherwise, passes on a machine that has other things to do.
    expect: { poll: { timeout: 20_000 } },
    // Enough of both sides to see in a report what differs.
    chaiConfig: { truncateThreshold: 300 },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/{protocol,queries,console,daemon,fuzz,structure}/**/*.test.{ts,tsx}'],
          // Files share what they import: half of the time went into loading the same modules for each. So no test may put
          // another module in the place of one (vi.mock); what it would replace is handed in.
          isolate: false,
          setupFiles: ['test/harness/property-runs.ts'],
          // As the console runs: React's development build takes a fifth more.
          env: { NODE_ENV: 'production' },
        },
        oxc: { jsx: { runtime: 'automatic', development: false } },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/system/**/*.test.ts'],
          // They wait most of the time; a test that hangs is named after as long as a busy machine needs for a whole one.
          maxWorkers: 5,
          sequence: { groupOrder: 1 },
          testTimeout: 240_000,
          hookTimeout: 240_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
      {
        extends: true,
        test: {
          name: 'peers',
          include: ['test/{differential,conformance}/**/*.test.ts'],
          fileParallelism: false,
          retry: 1,
          sequence: { groupOrder: 2 },
          testTimeout: 60_000,
        },
      },
    ],
  },
});
