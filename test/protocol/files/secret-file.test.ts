import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readSecretFile } from '../../../protocol/files/secret-file.ts';

const root = process.getuid?.() === 0;
let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'secret-file-'));
  path = join(dir, 'secret');
  writeFileSync(path, 'secret\n', { mode: 0o600 });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('is its bytes, to the last', () => {
  expect(readSecretFile(path, true)).toEqual({ bytes: Buffer.from('secret\n'), warning: '' });
});

it.each(['', ' ', '\n', ' \t\r\n\n'])('refuses %j, which everybody knows', (text) => {
  writeFileSync(path, text);
  expect(() => readSecretFile(path, true)).toThrow(/empty: write a secret into it/);
  expect(() => readSecretFile(path, false)).toThrow(/empty/);
});

it.each([0o602, 0o606, 0o622, 0o666])('refuses mode %o, with which others could have written it', (mode) => {
  chmodSync(path, mode);
  if (root) chownSync(path, 0, 65534);
  if (!root && (mode & 0o002) === 0) return;
  for (const own of [true, false]) expect(() => readSecretFile(path, own)).toThrow(/chmod go-w/);
});

it.each([0o604, 0o644])('reports mode %o, with which others can read it', (mode) => {
  chmodSync(path, mode);
  expect(readSecretFile(path, true)).toMatchObject({ warning: 'Others may read it: chmod go-r it' });
});

it('refuses what is no file, without waiting', () => {
  expect(() => readSecretFile(dir, true)).toThrow(/directory/);
  execFileSync('mkfifo', [join(dir, 'fifo')]);
  expect(() => readSecretFile(join(dir, 'fifo'), true)).toThrow(/FIFO/);
  expect(() => readSecretFile('/dev/null', true)).toThrow(/device/);
  expect(() => readSecretFile(join(dir, 'none'), true)).toThrow(/ENOENT/);
});

it.skipIf(!root)('refuses what another user owns or leads to; a tool reads it', () => {
  chownSync(path, 65534, 65534);
  expect(() => readSecretFile(path, true)).toThrow(/belongs to user nobody/);
  expect(readSecretFile(path, false).bytes.toString()).toBe('secret\n');
  symlinkSync('/etc/hostname', join(dir, 'link'));
  execFileSync('chown', ['-h', 'nobody', join(dir, 'link')]);
  expect(() => readSecretFile(join(dir, 'link'), true)).toThrow(/symbolic link of user nobody/);
});
