// Imports point one way: the tree has exactly the arrows of folders.ts, and those have no circle.
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ARROWS } from './folders.ts';
import { importsOf, modules } from './imports.ts';

/** `daemon/vcl` for all below it, `daemon/link` for a file at the top of daemon/, `queries` for all of it; the parts of
 * `console/model` are folders of their own. */
function folderOf(file: string): string {
  const [top = '', next = ''] = file.split('/');
  if (file.startsWith('console/model/')) return dirname(file);
  if (top === 'protocol' || top === 'queries') return top;
  return dirname(file) === top ? file.replace(/\.tsx?$/, '') : `${top}/${next}`;
}

function arrows(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of modules()) {
    const from = folderOf(file);
    const to = found.get(from) ?? new Set();
    found.set(from, to);
    for (const target of importsOf(file)) if (folderOf(target) !== from) to.add(folderOf(target));
  }
  return found;
}

describe('the folders', () => {
  it('import what the list says, and nothing else', () => {
    const actual = Object.fromEntries([...arrows()].map(([from, to]) => [from, [...to].sort()]));
    const listed = Object.fromEntries(Object.entries(ARROWS).map(([from, to]) => [from, [...to].sort()]));
    expect(actual).toEqual(listed);
  });

  it('have no circle: each stands below all that it imports', () => {
    const order = Object.keys(ARROWS);
    for (const [from, to] of Object.entries(ARROWS)) {
      for (const target of to) {
        expect([from, target, order.indexOf(target) < order.indexOf(from)]).toEqual([from, target, true]);
      }
    }
  });
});
