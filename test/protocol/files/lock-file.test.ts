// A lock that is a file: who has it, and taking over from holders and from claimants that are gone. Several processes at
// the same moment are in test/system/lock-starters.test.ts.
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { takeLock } from '../../../protocol/files/lock-file.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(directory, 'lock');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const startOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19] as string;
const DEAD = ['4194303 1\n', '4194303 2\n', '4194303 3\n'] as const;
const claimTo = (text: string): string =>
  `${path}.${createHash('sha256').update(text).digest('hex').slice(0, 16)}.claim`;

it('is one process at a time, the own one too, and leaves nothing behind', () => {
  const taken = takeLock(path);
  expect(readFileSync(path, 'utf8')).toBe(`${process.pid} ${startOf(process.pid)}\n`);
  expect(takeLock(path)).toEqual({ holder: process.pid });
  taken.release?.();
  expect(readdirSync(directory)).toEqual([]);
});

it('that lives elsewhere is left alone', () => {
  const text = `${process.ppid} ${startOf(process.ppid)}\n`;
  writeFileSync(path, text);
  expect(takeLock(path)).toEqual({ holder: process.ppid });
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it('is not removed once it is another’s', () => {
  const taken = takeLock(path);
  writeFileSync(path, 'another');
  taken.release?.();
  expect(readFileSync(path, 'utf8')).toBe('another');
});

it.each(['', 'garbage', DEAD[0]])('is taken over from %j, and drafts of the dead go', (text) => {
  writeFileSync(path, text);
  writeFileSync(`${path}.4194303-0123456789ab.new`, '');
  writeFileSync(`${path}.other`, '');
  takeLock(path).release?.();
  expect(readdirSync(directory)).toEqual(['lock.other']);
});

it('is taken over from a holder whose claimants died as well', () => {
  writeFileSync(path, DEAD[0]);
  writeFileSync(claimTo(DEAD[0]), DEAD[1]);
  writeFileSync(claimTo(DEAD[1]), DEAD[2]);
  takeLock(path).release?.();
  expect(readdirSync(directory)).toEqual([]);
});

it('is not taken over from under a claimant that lives', () => {
  writeFileSync(path, DEAD[0]);
  writeFileSync(claimTo(DEAD[0]), DEAD[1]);
  writeFileSync(claimTo(DEAD[1]), `${process.ppid} ${startOf(process.ppid)}\n`);
  expect(takeLock(path)).toEqual({ holder: process.ppid });
  expect(readFileSync(path, 'utf8')).toBe(DEAD[0]);
});

it('takes the place of a link, and what that leads to stays as it is', () => {
  const victim = join(directory, 'victim');
  writeFileSync(victim, 'precious');
  symlinkSync(victim, path);
  takeLock(path).release?.();
  expect(readFileSync(victim, 'utf8')).toBe('precious');
});
