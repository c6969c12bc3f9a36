import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DirectoryFiles } from '../../../daemon/disk/disk-files.ts';
import { DiskStore } from '../../../daemon/disk/disk-store.ts';
import { bodyIn, bodyOf, object, options, purge } from './disk-setup.ts';

let path = '';

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'disk-'));
});

afterEach(() => rmSync(path, { recursive: true }));

it('finds in a directory what a store has left that was not closed, and nothing that was purged', async () => {
  const store = await DiskStore.open(new DirectoryFiles(path), options());
  const body = bodyOf(4, 200_000);
  await store.put(object(store, '/a', { body }));
  await store.put(object(store, '/b'));
  await purge(store, '/b');
  const next = await DiskStore.open(new DirectoryFiles(path), options());
  const found = await bodyIn(next, '/a');
  expect(Buffer.isBuffer(found) && found.equals(body)).toBe(true);
  expect(await bodyIn(next, '/b')).toBeNull();
  await next.close();
  await store.close();
});

it.each([
  ['larger', { segments: 2000, segmentBytes: 800_000 }],
  ['smaller', { segments: 3, segmentBytes: 300_000 }],
])('finds objects in a directory that was moved, in a copy of it, and when it may be %s', async (_, size) => {
  const first = await DiskStore.open(new DirectoryFiles(path), options());
  for (let i = 0; i < 20; i++) await first.put(object(first, `/${i}`, { body: bodyOf(i, 50_000) }));
  await purge(first, '/19');
  await first.close();
  const moved = join(path, 'moved');
  const copy = join(path, 'copy');
  mkdirSync(moved);
  for (const name of readdirSync(path)) {
    if (/^(segment|journal)-/.test(name)) renameSync(join(path, name), join(moved, name));
  }
  cpSync(moved, copy, { recursive: true });
  for (const at of [moved, copy]) {
    const next = await DiskStore.open(new DirectoryFiles(at), options(size));
    expect(next.start).toBe('whole');
    // When there is less room the oldest are not there any more.
    const found = await bodyIn(next, '/18');
    expect(Buffer.isBuffer(found) && found.equals(bodyOf(18, 50_000))).toBe(true);
    expect(await bodyIn(next, '/19')).toBeNull();
    expect(next.segments.size).toBeLessThanOrEqual(size.segments);
    await next.put(object(next, '/new', { body: bodyOf(30, 50_000) }));
    expect((await bodyIn(next, '/new'))?.length).toBe(50_000);
    expect(next.segments.size).toBeLessThanOrEqual(size.segments);
    await next.close();
  }
});

it('makes files that are the daemon’s alone, and follows no link', async () => {
  const files = new DirectoryFiles(path);
  await (await files.create('new')).close();
  expect(statSync(join(path, 'new')).mode & 0o777).toBe(0o600);
  await expect(files.create('new')).rejects.toThrow('EEXIST');
  symlinkSync('/etc/passwd', join(path, 'link'));
  await expect(files.open('link')).rejects.toThrow('ELOOP');
  await expect(files.create('link')).rejects.toThrow('EEXIST');
});

it('reads to the end of a file, and never from a descriptor that was closed', async () => {
  const file = await new DirectoryFiles(path).create('new');
  await file.write(Buffer.from('abcdef'), 2);
  const into = Buffer.alloc(10);
  expect(await file.read(into, 4)).toBe(4);
  expect(into.toString('latin1', 0, 4)).toBe('cdef');
  expect(await file.read(into, 100)).toBe(0);
  expect(await file.read(Buffer.alloc(0), 0)).toBe(0);
  await file.close();
  await file.close();
  await expect(file.read(into, 0)).rejects.toThrow();
  await expect(file.write(into, 0)).rejects.toThrow();
});

it('knows a directory that was copied while it was in use, and one that was moved then', async () => {
  const old = join(path, 'old');
  const copy = join(path, 'copy');
  const moved = join(path, 'moved');
  mkdirSync(old);
  const store = await DiskStore.open(new DirectoryFiles(old), options());
  await store.put(object(store, '/a'));
  cpSync(old, copy, { recursive: true, preserveTimestamps: true });
  await purge(store, '/a');
  // As after a kill.
  renameSync(old, moved);
  const starts: string[] = [];
  for (const directory of [copy, moved]) {
    const next = await DiskStore.open(new DirectoryFiles(directory), options());
    starts.push(next.start);
    expect(await bodyIn(next, '/a')).toBeNull();
    await next.close();
  }
  expect(starts).toEqual(['copied while in use', 'whole']);
});
