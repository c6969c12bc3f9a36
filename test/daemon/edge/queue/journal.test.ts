// The journal under crashes and full disks: the file is cut at every byte, and every call of the file system fails once.
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Journal, type JournalFiles, realFiles } from '../../../../daemon/edge/queue/journal.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = (more: { files?: JournalFiles; compactAt?: number; kept?: () => readonly unknown[] } = {}) =>
  Journal.open({ directory, fsync: 'always', snapshot: more.kept ?? (() => []), ...more });

async function records(): Promise<readonly unknown[]> {
  const opened = await open();
  await opened.journal.close();
  return opened.records;
}

it('gives back what it was given, from files that only their owner reads', async () => {
  const { journal } = await open();
  await Promise.all([1, 2, 3].map((n) => journal.append({ n })));
  await journal.append({ n: 'ü' });
  await journal.close();
  expect(await records()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 'ü' }]);
  const [name] = readdirSync(directory).filter((each) => each.startsWith('journal'));
  expect(statSync(join(directory, name as string)).mode & 0o777).toBe(0o600);
});

it('keeps every whole record of a file that is cut anywhere, and continues after it', async () => {
  const { journal } = await open();
  for (let n = 0; n < 5; n++) await journal.append({ n });
  await journal.close();
  const path = join(directory, 'journal.0');
  const whole = readFileSync(path);
  const one = whole.length / 5;
  for (let cut = 0; cut <= whole.length; cut++) {
    writeFileSync(path, whole.subarray(0, cut));
    const opened = await open();
    expect(opened.records).toHaveLength(Math.floor(cut / one));
    await opened.journal.append({ n: 'next' });
    await opened.journal.close();
    expect((await records()).at(-1)).toEqual({ n: 'next' });
  }
});

it('takes a torn tail of zeros or of wrong bytes for no record', async () => {
  const { journal } = await open();
  await journal.append({ n: 1 });
  await journal.close();
  const path = join(directory, 'journal.0');
  const whole = readFileSync(path);
  for (const tail of [Buffer.alloc(100), Buffer.from(whole).fill(7, 10)]) {
    writeFileSync(path, Buffer.concat([whole, tail]));
    expect(await records()).toEqual([{ n: 1 }]);
  }
});

/** The file system in which the n-th call fails. */
function failing(n: number): { files: JournalFiles; calls: () => number } {
  let calls = 0;
  const fail = async (): Promise<void> => {
    if (++calls === n) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  };
  return {
    calls: () => calls,
    files: {
      ...realFiles,
      open: async (path, fresh) => {
        const file = await realFiles.open(path, fresh);
        return {
          ...file,
          // Half of it is written, as a full disk does it.
          write: async (bytes, at) => {
            try {
              await fail();
            } catch (cause) {
              await file.write(bytes.subarray(0, bytes.length - 3), at);
              throw cause;
            }
            await file.write(bytes, at);
          },
          sync: async () => {
            await fail();
            await file.sync();
          },
          truncate: async (length) => {
            await fail();
            await file.truncate(length);
          },
        };
      },
      rename: async (from, to) => {
        await fail();
        await realFiles.rename(from, to);
      },
      syncDirectory: async (path) => {
        await fail();
        await realFiles.syncDirectory(path);
      },
    },
  };
}

it('contains exactly the acknowledged entries, whichever call fails', async () => {
  for (let n = 1; n < 60; n++) {
    rmSync(directory, { recursive: true });
    const { files, calls } = failing(n);
    const kept: unknown[] = [];
    const opened = await open({ files, compactAt: 60, kept: () => kept }).catch(() => null);
    if (opened === null) continue;
    for (let i = 0; i < 8; i++) {
      await opened.journal.append({ i }).then(
        () => kept.push({ i }),
        () => undefined,
      );
    }
    await opened.journal.close();
    expect(await records(), `call ${n} fails`).toEqual(kept);
    expect(kept.length).toBeGreaterThanOrEqual(7);
    if (calls() < n) return;
  }
});

it('writes a new file of what is left', async () => {
  const { journal } = await open({ compactAt: 200, kept: () => [{ kept: true }] });
  for (let n = 0; n < 50; n++) await journal.append({ n });
  await journal.close();
  const found = await records();
  expect(found[0]).toEqual({ kept: true });
  expect(found.length).toBeLessThan(20);
  expect(readdirSync(directory).filter((name) => name.startsWith('journal'))).toHaveLength(1);
});

it('is one process at a time, follows no links, and takes over from one that is gone', async () => {
  const { journal } = await open();
  await journal.append({ n: 1 });
  await expect(open()).rejects.toThrow(`in use by process ${process.pid}`);
  writeFileSync(
    join(directory, 'lock'),
    `1 ${readFileSync('/proc/1/stat', 'utf8').split(') ')[1]?.split(' ')[19]}`,
  );
  await expect(open()).rejects.toThrow('in use by process 1');
  writeFileSync(join(directory, 'lock'), '999999 1');
  expect(await records()).toEqual([{ n: 1 }]);
  await journal.close();
  rmSync(join(directory, 'journal.0'));
  symlinkSync('/etc/passwd', join(directory, 'journal.0'));
  await expect(open()).rejects.toThrow();
});

it('has nothing come back after an invalid record', async () => {
  const { journal } = await open();
  for (const n of [1, 2, 3]) await journal.append({ n });
  await journal.close();
  const path = join(directory, 'journal.0');
  const bytes = readFileSync(path);
  bytes.writeUInt8(0, bytes.length / 3 + 9);
  writeFileSync(path, bytes);
  const opened = await open();
  await opened.journal.append({ n: 4 });
  await opened.journal.close();
  expect(await records()).toEqual([{ n: 1 }, { n: 4 }]);
});
