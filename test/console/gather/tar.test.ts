import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { tarArchive } from '../../../console/gather/tar.ts';

const MTIME = new Date('2023-11-14T22:13:20Z');
const list = (archive: Buffer): string => execFileSync('tar', ['-tvf', '-'], { input: archive }).toString();
const text = (archive: Buffer, name: string): Buffer =>
  execFileSync('tar', ['-xOf', '-', name], { input: archive, maxBuffer: 1 << 23 });

it('is what tar reads', async () => {
  const data = Buffer.from('hello\n'.repeat(200));
  const archive = await tarArchive(
    [
      { name: 'a/empty.txt', data: Buffer.alloc(0) },
      { name: 'a/data.txt', data },
    ],
    MTIME,
  );
  expect(archive.length % 512).toBe(0);
  expect(list(archive)).toMatch(
    /^-rw------- 0\/0 +0 2023-11-14 \S+ a\/empty\.txt\n-rw------- 0\/0 +1200 2023-11-14 \S+ a\/data\.txt\n$/,
  );
  expect(text(archive, 'a/data.txt').equals(data)).toBe(true);
});

it('keeps long names and many bytes', async () => {
  const name = `top/programs/${'x'.repeat(200)}.vcl`;
  const data = Buffer.alloc(3_000_001, 'y');
  const archive = await tarArchive([{ name, data }], MTIME);
  expect(list(archive)).toContain(`3000001 2023-11-14 `);
  expect(text(archive, name).equals(data)).toBe(true);
});
