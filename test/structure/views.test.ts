// The console knows its views by the interface and the table alone: nothing outside a view asks which one it is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { VIEWS } from '../../console/views/views.ts';
import { modules, ROOT } from './imports.ts';

const NAMES = VIEWS.map((view) => view.name).join('|');

const ASKING: readonly RegExp[] = [
  /\bview(\.name)?\s*[!=]==\s*['"`]/,
  /switch \([^)]*\bview(\.name)?\)/,
  // Steps of a recording and subscriptions have a kind `log` of their own.
  new RegExp(`(?<!\\bkind)\\s[!=]==\\s*'(${NAMES})'`),
];

it('no module of the console compares the view with a name', () => {
  const found = modules()
    .filter((file) => file.startsWith('console/'))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, i) => (ASKING.some((pattern) => pattern.test(line)) ? [`${file}:${i + 1}`] : [])),
    );
  expect(found).toEqual([]);
});

it('names, keys and titles of views are their own', () => {
  for (const part of ['name', 'key', 'title'] as const)
    expect(new Set(VIEWS.map((view) => view[part])).size).toBe(VIEWS.length);
});
