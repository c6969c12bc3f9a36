// A basename stands once in the tree, so that it names its file in talk, stack traces and editors.
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { SHARED_BASENAMES } from './basenames.ts';
import { modules } from './imports.ts';

it('are unique but for the siblings of the list', () => {
  const byName = new Map<string, string[]>();
  for (const file of modules()) {
    const name = basename(file);
    byName.set(name, [...(byName.get(name) ?? []), file]);
  }
  const shared = [...byName].filter(([, files]) => files.length > 1);
  const listed = Object.entries(SHARED_BASENAMES).map(([name, { files }]) => [name, files]);
  const inOrder = (rows: [string, readonly string[]][]) =>
    Object.fromEntries(rows.map(([name, files]) => [name, [...files].sort()]));
  expect(inOrder(shared)).toEqual(inOrder(listed as [string, readonly string[]][]));
});
