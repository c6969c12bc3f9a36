// Every kind of thing that another user can plant where a file is to be written, and every way of writing one. As root
// the planted things belong to another user; otherwise only what this user's own account can show is tried.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOwn, openOutput, openRegular, writeOwn } from '../../../protocol/files/own-file.ts';
import { checkWay, othersBits, Untrusted } from '../../../protocol/files/trust.ts';

const root = process.getuid?.() === 0;
const OTHER = 65534;
let dir: string;
let victim: string;
let path: string;
let server: Server | null;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'own-file-'));
  victim = join(dir, 'victim');
  path = join(dir, 'file');
  server = null;
  writeFileSync(victim, 'precious');
});
afterEach(() => {
  server?.close();
  rmSync(dir, { recursive: true, force: true });
});

const PLANTED: [string, () => unknown, RegExp][] = [
  ['a symbolic link', () => symlinkSync(victim, path), /symbolic link/],
  ['a symbolic link to nothing', () => symlinkSync(join(dir, 'none'), path), /symbolic link/],
  ['a hard link', () => linkSync(victim, path), /2 names/],
  ['a FIFO', () => execFileSync('mkfifo', [path]), /FIFO/],
  ['a directory', () => mkdirSync(path), /directory/],
  [
    'a socket',
    () =>
      new Promise<void>((resolve) => {
        server = createServer().listen(path, resolve);
      }),
    /socket/,
  ],
];

describe('where something else lies', () => {
  for (const [what, plant, problem] of PLANTED) {
    it(`${what} is refused, and neither followed nor removed`, async () => {
      await plant();
      const before = lstatSync(path);
      expect(() => createOwn(path, { mode: 0o600 })).toThrow(problem);
      expect(() => writeOwn(path, 'mine', 0o600)).toThrow(Untrusted);
      expect(lstatSync(path).ino).toBe(before.ino);
      expect(readFileSync(victim, 'utf8')).toBe('precious');
    });
  }

  it.skipIf(!root)('a file of another user is refused', () => {
    writeFileSync(path, 'known');
    chownSync(path, OTHER, OTHER);
    expect(() => writeOwn(path, 'mine', 0o600)).toThrow(/belongs to user nobody: remove it/);
    expect(() => openOutput(path, 0o600, true)).toThrow(/belongs to user nobody/);
    expect(readFileSync(path, 'utf8')).toBe('known');
  });
});

describe('a file of our own', () => {
  it('is made with its mode, and replaced by another one', () => {
    writeOwn(path, 'one', 0o600);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o644);
    const { ino } = statSync(path);
    writeFileSync(join(dir, 'holds the inode'), '');
    writeOwn(path, 'two', 0o600);
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect([ino, 0]).not.toEqual([statSync(path).ino, 1]);
  });

  it('is removed again, and nothing that has taken its place', () => {
    const remove = writeOwn(path, '1\n', 0o644);
    remove();
    expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined();
    const again = writeOwn(path, '2\n', 0o644);
    rmSync(path);
    symlinkSync(victim, path);
    again();
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
  });
});

it.skipIf(!root)('a file may be made for a group', () => {
  closeSync(createOwn(path, { mode: 0o640, group: OTHER }));
  expect(statSync(path)).toMatchObject({ uid: 0, gid: OTHER });
});

describe('an output that is named', () => {
  const put = (append: boolean, text: string): void => {
    const fd = openOutput(path, 0o600, append);
    writeSync(fd, text);
    closeSync(fd);
  };

  it('is made for its user alone, then truncated or gone on with', () => {
    put(false, 'a');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    put(true, 'b');
    expect(readFileSync(path, 'utf8')).toBe('ab');
    put(false, 'c');
    expect(readFileSync(path, 'utf8')).toBe('c');
  });

  it('may be a device, and what the system links to one', () => {
    closeSync(openOutput('/dev/null', 0o600, true));
    symlinkSync('/dev/null', path);
    closeSync(openOutput(path, 0o600, true));
  });

  it('may be a link of ours in a directory of ours, and in none that others may write to', () => {
    symlinkSync(victim, path);
    put(true, '!');
    expect(readFileSync(victim, 'utf8')).toBe('precious!');
    chmodSync(dir, 0o1777);
    expect(() => openOutput(path, 0o600, true)).toThrow(/symbolic link that others may have put there/);
  });

  it('is no file that has another name, that everybody may write to, or that others could replace', () => {
    linkSync(victim, path);
    expect(() => openOutput(path, 0o600, false)).toThrow(/2 names/);
    rmSync(path);
    expect(readFileSync(victim, 'utf8')).toBe('precious');
    chmodSync(victim, 0o666);
    expect(() => openOutput(victim, 0o600, false)).toThrow(/Everybody may write/);
    chmodSync(victim, 0o600);
    chmodSync(dir, 0o777);
    expect(() => openOutput(victim, 0o600, false)).toThrow(/can be written by any user: chmod o-w/);
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });

  it.skipIf(!root)('is no pipe of another user', () => {
    execFileSync('mkfifo', [path]);
    chownSync(path, OTHER, OTHER);
    expect(() => openOutput(path, 0o600, true)).toThrow(/belongs to user nobody/);
  });
});

it('what another user writes is read only where it is a file', () => {
  closeSync(openRegular(victim));
  symlinkSync(victim, path);
  expect(() => openRegular(path)).toThrow();
  rmSync(path);
  execFileSync('mkfifo', [path]);
  expect(() => openRegular(path)).toThrow(/FIFO/);
});

describe('the way to a path', () => {
  it('may lead through what is sticky, and not through what everybody may write to', () => {
    mkdirSync(join(dir, 'a/b'), { recursive: true });
    chmodSync(join(dir, 'a'), 0o1777);
    checkWay(join(dir, 'a/b/c'));
    chmodSync(join(dir, 'a'), 0o777);
    expect(() => checkWay(join(dir, 'a/b/c'))).toThrow(/a can be written by any user/);
    // The last component is for the caller to judge.
    checkWay(join(dir, 'a'));
  });

  it('may lead through links of ours, and then where those lead', () => {
    mkdirSync(join(dir, 'open'));
    chmodSync(join(dir, 'open'), 0o777);
    symlinkSync('open', join(dir, 'link'));
    expect(() => checkWay(join(dir, 'link/x'))).toThrow(/open can be written by any user/);
    symlinkSync('round', join(dir, 'round'));
    expect(() => checkWay(join(dir, 'round/x'))).toThrow(/Too many/);
  });

  it.skipIf(!root)('never leads through what another user owns', () => {
    mkdirSync(join(dir, 'theirs'));
    chownSync(join(dir, 'theirs'), OTHER, OTHER);
    expect(() => checkWay(join(dir, 'theirs/x'))).toThrow(/theirs belongs to user nobody/);
    execFileSync('ln', ['-s', '/etc', join(dir, 'link')]);
    execFileSync('chown', ['-h', 'nobody', join(dir, 'link')]);
    expect(() => checkWay(join(dir, 'link/passwd'))).toThrow(/link is a symbolic link of user nobody/);
  });
});

it('a group is others, unless nobody else is in it', () => {
  chmodSync(victim, 0o660);
  expect(othersBits(statSync(victim)) & 0o020).toBe(root ? 0 : othersBits(statSync(victim)) & 0o020);
  if (!root) return;
  chownSync(victim, 0, OTHER);
  expect(othersBits(statSync(victim))).toBe(0o060);
});
