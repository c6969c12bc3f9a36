import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { modules, ROOT } from './imports.ts';
import { loopsOf, REASONS } from './many-loops.ts';

it('loops over what there can be very many of have a reason', () => {
  const found = modules()
    .filter((file) => file.startsWith('daemon/'))
    .flatMap((file) => loopsOf(readFileSync(join(ROOT, file), 'utf8')).map((name) => `${file} ${name}`));
  expect(found.toSorted()).toEqual(Object.values(REASONS).flat().toSorted());
});

it.each([
  ['for (const [key, entry] of this.entries) drop(entry);', 'entries'],
  ['for (const ban of [...this.#bans.values()]) {', 'bans'],
  ['const all = [...state.objects].map(size);', 'objects'],
  ['return this.backends.values().filter(isWarm);', 'backends'],
  ['for (let i = 0; i < waiters.length; i++) wake(i);', 'waiters'],
  ['parts.members?.forEach(call)', 'members'],
  ['// for (const ban of bans) {', ''],
  ['for (const word of words) {', ''],
])('finds %j', (text, name) => {
  expect(loopsOf(text).join()).toBe(name);
});
