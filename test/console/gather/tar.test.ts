import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { tarArchive } from '../../../console/gather/tar.ts';

it('is what tar reads', () => {
  const data = Buffer.from('hello\n'.repeat(200));
  const archive = tarArchive(
    [
      { name: 'a/empty.txt', data: Buffer.alloc(0) },
      { name: 'a/data.txt', data },
    ],
    1_700_000_000,
  );
  expect(archive.length % 512).toBe(0);
  const list = execFileSync('tar', ['-tvf', '-'], { input: archive }).toString();
  expect(list).toMatch(
    /^-rw------- 0\/0 +0 2023-11-14 \S+ a\/empty\.txt\n-rw------- 0\/0 +1200 2023-11-14 \S+ a\/data\.txt\n$/,
  );
  expect(execFileSync('tar', ['-xOf', '-', 'a/data.txt'], { input: archive }).equals(data)).toBe(true);
});

it('refuses names that do not fit', () => {
  expect(() => tarArchive([{ name: 'x'.repeat(100), data: Buffer.alloc(0) }], 0)).toThrow();
  expect(() => tarArchive([{ name: 'a b', data: Buffer.alloc(0) }], 0)).toThrow();
});
