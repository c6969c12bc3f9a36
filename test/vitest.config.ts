import { defineConfig } from 'vitest/config';

// Two projects of one run: `unit` mirrors the source tree and imports it; `system` drives the
// compiled programs in dist/ and so runs file by file, after a global setup has built them.
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    globalSetup: ['test/harness/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/{protocol,queries,console,daemon,fuzz}/**/*.test.{ts,tsx}'] },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/{system,differential,conformance}/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 60_000,
        },
      },
    ],
  },
});
