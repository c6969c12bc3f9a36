import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { DiskSpec } from '../../../../daemon/link.ts';
import { makeDiskDirectory } from '../../../../daemon/manager/process/worker-directory.ts';

const root = mkdtempSync(join(tmpdir(), 'proxyd-disk-directory-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const make = (path: string): void => makeDiskDirectory({ path } as DiskSpec, null);

it('is made for its owner alone, and found again', () => {
  const path = join(root, 'new');
  make(path);
  make(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it('is refused where others may write to it, with what it has and what it needs', () => {
  const path = join(root, 'open');
  make(path);
  chmodSync(path, 0o777);
  const uid = process.geteuid?.();
  expect(() => make(path)).toThrow(
    `The disk tier's directory '${path}' must belong to the worker's user (uid ${uid}), and nobody else may write to it: ` +
      `it belongs to uid ${uid}, with mode 777`,
  );
});

it('is refused where a file has its place', () => {
  const path = join(root, 'file');
  writeFileSync(path, '');
  expect(() => make(path)).toThrow(`'${path}' of -s is not a directory`);
});
