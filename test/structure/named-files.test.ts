// Files that pages and comments name exist.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;
const FOLDERS = ['daemon', 'console', 'protocol', 'queries', 'test'];
const files = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ),
];
const names = new Set(files.map((file) => basename(file)));
/** In pages a name stands in backquotes, in comments of sources in parentheses. `x.ts` is anybody's. */
const NAMED = {
  md: /`(?:[\w./-]*\/)?([\w-]{2,}\.tsx?)`/g,
  ts: /\/\/.*\((?:[\w./-]*\/)?([\w-]{2,}\.tsx?)\)/g,
};

function missing(pattern: RegExp, from: readonly string[]): string[] {
  return from.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(pattern)]
      .map((match) => match[1] as string)
      .filter((name) => !names.has(name))
      .map((name) => `${file}: ${name}`),
  );
}

it('exist where a page names them', () => {
  expect(
    missing(
      NAMED.md,
      files.filter((file) => file.endsWith('.md')),
    ),
  ).toEqual([]);
});

it('exist where a comment refers to them', () => {
  const sources = files.filter((file) => /^(daemon|console|protocol|queries|test)\/.*\.tsx?$/.test(file));
  expect(missing(NAMED.ts, sources)).toEqual([]);
});
