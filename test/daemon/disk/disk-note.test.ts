// A note beside the objects: the last one, or none.
import { expect, it } from 'vitest';
import { readNote, writeNote } from '../../../daemon/disk/disk-note.ts';
import { FaultyFiles } from './faulty-files.ts';

it('is the one that was written last, and none when a bit of it is wrong', async () => {
  const files = new FaultyFiles();
  expect(await readNote(files)).toBeNull();
  await writeNote(files, 'the first, which is longer');
  await writeNote(files, 'the second');
  expect(await readNote(files)).toBe('the second');
  const bytes = files.contents.get('note')?.bytes as Buffer;
  bytes[12] = (bytes[12] as number) ^ 1;
  expect(await readNote(files)).toBeNull();
});
