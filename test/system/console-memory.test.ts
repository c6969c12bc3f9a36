// A console left on a busy log for hours: frames of lines never seen before must leave the heap as it
// was. In a process of its own, with the production build of React as the launcher takes it: the
// development build keeps a record of every render, and the test runner compiles for that one.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** As many as show a record of each, which takes kilobytes, within the bound. */
const FRAMES = 3000;

it('holds the heap flat over frames of distinct lines', async () => {
  const script = fileURLToPath(new URL('../console/tui/memory-frames.ts', import.meta.url));
  const TSX_TSCONFIG_PATH = fileURLToPath(new URL('../../.tsconfig.base.json', import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', script, String(FRAMES)],
    {
      env: { ...process.env, NODE_ENV: 'production', TSX_TSCONFIG_PATH },
    },
  );
  const { early, late, frames } = JSON.parse(stdout) as { early: number; late: number; frames: number };
  expect(frames).toBeGreaterThanOrEqual(FRAMES);
  expect((late - early) / 2 ** 20).toBeLessThan(1);
});
