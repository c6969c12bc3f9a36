// A lock that is taken is left in a `finally`: by Lock.hold(), or where that would cost too much by enter() and leave() in
// the one shape that is checked here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { modules, ROOT } from './imports.ts';

const TAKES = /[\w.]*\block\.(?:enter|tryEnter)\(\)/g;
const SAFE =
  /([\w.]*\block)\.(?:enter\(\);|tryEnter\(\)\) return[^;]*;)\s*try \{(?:(?!\n {2}\}).)*?\} finally \{\s*\1\.leave\(\);\s*\}/gs;

/** Where a lock is taken in another shape, and why. */
const OTHERS: Readonly<Record<string, string>> = {
  'daemon/log/ring-writer.ts': 'taken in three ways, and left by leaveWith() in a finally',
  'daemon/worker/threads-state.ts': 'enter() and leave() of a BoundedTable, which pairs them',
};

it('locks are left in a finally', () => {
  const unsafe = modules()
    .filter((file) => file.startsWith('daemon/') && file !== 'daemon/threads/shared-lock.ts')
    .filter((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      return [...text.matchAll(TAKES)].length !== [...text.matchAll(SAFE)].length;
    });
  expect(unsafe.sort()).toEqual(Object.keys(OTHERS));
});
