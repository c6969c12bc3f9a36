// Imports between modules of the source tree: by `import`, by `import type` and by `import()`.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export const ROOT = new URL('../../', import.meta.url).pathname;

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g;

/** Every module, by its name below the root. */
export function modules(): string[] {
  return ['protocol', 'queries', 'daemon', 'console'].flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true })
      .map((entry) => join(top, String(entry)))
      .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts')),
  );
}

export function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return [...text.matchAll(IMPORT)].map(([, from]) => normalize(join(dirname(file), from as string)));
}
