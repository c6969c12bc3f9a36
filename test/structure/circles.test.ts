// Files of a folder do not import each other in a circle, types included: shared parts lie below both, or it is one file.
import { expect, it } from 'vitest';
import { importsOf, modules } from './imports.ts';

/** Sets of files that reach each other, by Tarjan's algorithm. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file) as number);
    stack.push(file);
    for (const target of graph.get(file) ?? []) {
      if (!index.has(target)) visit(target);
      if (stack.includes(target)) low.set(file, Math.min(low.get(file) as number, low.get(target) as number));
    }
    if (low.get(file) !== index.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) found.push(circle.sort());
  };
  for (const file of graph.keys()) if (!index.has(file)) visit(file);
  return found;
}

it('files do not import each other in a circle', () => {
  const graph = new Map(modules().map((file) => [file, importsOf(file)]));
  expect(circlesOf(graph)).toEqual([]);
});

it('finds circles', () => {
  const graph = new Map([
    ['a', ['b', 'c']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', ['e']],
    ['e', ['d']],
    ['f', ['a', 'e']],
  ]);
  expect(circlesOf(graph).sort()).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e'],
  ]);
});
