import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { codeFolder } from '../../../console/process/code-cache.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'proxyd-code-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it('is made for its owner alone', () => {
  const folder = codeFolder({ XDG_CACHE_HOME: home });
  expect(folder).toBe(join(home, 'proxyd', 'code'));
  expect(statSync(folder ?? '').mode & 0o777).toBe(0o700);
  // And found by the next.
  expect(codeFolder({ XDG_CACHE_HOME: home })).toBe(folder);
});

it.each(['', 'proxyd', 'proxyd/code'])('is not used where others can write to cache/%s', (part) => {
  codeFolder({ XDG_CACHE_HOME: home });
  chmodSync(join(home, part), 0o777);
  expect(codeFolder({ XDG_CACHE_HOME: home })).toBeNull();
  chmodSync(join(home, part), 0o720);
  expect(codeFolder({ XDG_CACHE_HOME: home })).toBeNull();
});

it('does not follow a link, nor take a folder that is missing', () => {
  const elsewhere = join(home, 'elsewhere');
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, join(home, 'cache'));
  expect(codeFolder({ XDG_CACHE_HOME: join(home, 'cache') })).toBeNull();
  expect(codeFolder({ XDG_CACHE_HOME: join(home, 'missing') })).toBeNull();
});

it.runIf(process.geteuid?.() === 0)('is not used in the home of another user', () => {
  expect(codeFolder({ XDG_CACHE_HOME: home })).not.toBeNull();
  for (const part of ['', 'proxyd', 'proxyd/code']) chmodSync(join(home, part), 0o755);
  process.seteuid?.(65534);
  try {
    expect(codeFolder({ XDG_CACHE_HOME: home })).toBeNull();
  } finally {
    process.seteuid?.(0);
  }
});
