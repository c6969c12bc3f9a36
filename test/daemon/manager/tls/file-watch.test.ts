import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FileWatch } from '../../../../daemon/manager/tls/file-watch.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-watch-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

it('reports files that were written anew, replaced or relinked, once all is quiet', async () => {
  const path = (name: string): string => join(dir, name);
  writeFileSync(path('a'), '1');
  writeFileSync(path('live1'), '1');
  symlinkSync('live1', path('live'));
  let paths = [path('a'), path('live'), path('none')];
  let changes = 0;
  const watch = new FileWatch(
    1_000_000,
    () => paths,
    async () => {
      changes++;
    },
  );
  await watch.start();
  await watch.round();
  expect(changes).toBe(0);

  const acts = [
    () => writeFileSync(path('a'), '22'),
    () => {
      writeFileSync(path('live2'), '1');
      symlinkSync('live2', path('next'));
      renameSync(path('next'), path('live'));
    },
    () => writeFileSync(path('none'), '1'),
    () => rmSync(path('none')),
  ];
  for (const [i, act] of acts.entries()) {
    act();
    await watch.round();
    expect(changes).toBe(i);
    await watch.round();
    await watch.round();
    expect(changes).toBe(i + 1);
  }

  // Still changing.
  for (const text of ['1', '22', '333']) {
    writeFileSync(path('a'), text);
    await watch.round();
  }
  expect(changes).toBe(acts.length);
  await watch.round();
  expect(changes).toBe(acts.length + 1);

  // A file that is new to it is no change, unless it is doubted.
  writeFileSync(path('b'), '1');
  paths = [...paths, path('b')];
  await watch.round();
  await watch.round();
  expect(changes).toBe(acts.length + 1);
  watch.doubt();
  await watch.round();
  expect(changes).toBe(acts.length + 2);
  watch.close();
});
