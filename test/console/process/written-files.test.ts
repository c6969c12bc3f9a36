// Files written by the console: symlinks are not followed, and other users cannot read them.
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { QueryFile } from '../../../console/process/config-file.ts';
import { NodeFiles } from '../../../console/process/node-files.ts';

let dir: string;
let victim: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'written-'));
  victim = join(dir, 'victim');
  writeFileSync(victim, 'precious');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('an export', async () => {
  const files = new NodeFiles();
  expect(files.exists(join(dir, 'export'))).toBe(false);
  await files.write(join(dir, 'export'), 'one');
  expect(files.exists(join(dir, 'export'))).toBe(true);
  await files.write(join(dir, 'export'), 'two');
  expect(readFileSync(join(dir, 'export'), 'utf8')).toBe('two');
  expect(statSync(join(dir, 'export')).mode & 0o777).toBe(0o600);
  symlinkSync(victim, join(dir, 'link'));
  await expect(files.write(join(dir, 'link'), 'x')).rejects.toThrow(/symbolic link/);
  expect(readFileSync(victim, 'utf8')).toBe('precious');
});

it('the file of saved queries', async () => {
  const path = join(dir, 'config/proxyd/console.json');
  const queries = new QueryFile(path, {});
  await queries.save('errors', 'RespStatus >= 500');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ queries: { errors: 'RespStatus >= 500' } });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(dir, 'config')).mode & 0o077).toBe(0);
  symlinkSync(victim, `${path}.${process.pid}`);
  await expect(queries.save('more', 'x')).rejects.toThrow(/symbolic link/);
  expect(readFileSync(victim, 'utf8')).toBe('precious');
});
