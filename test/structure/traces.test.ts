// The traces in daemon/TRACES.md are true: the files exist, and each imports the next.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, ROOT } from './imports.ts';

const [map, text] = ['ARCHITECTURE.md', 'daemon/TRACES.md'].map((page) =>
  readFileSync(join(ROOT, page), 'utf8').replace(/\s+/g, ' '),
) as [string, string];
const CHAIN = /`[\w./-]+\.tsx?`(?: → `[\w./-]+\.tsx?`)+/g;
const steps = [...text.matchAll(CHAIN)].flatMap(([chain]) => {
  const files = [...chain.matchAll(/`([^`]+)`/g)].map(([, file]) => file as string);
  return files.slice(1).map((to, i) => [files[i] as string, to] as const);
});

describe('daemon/TRACES.md', () => {
  it('has traces', () => {
    expect(steps.length).toBeGreaterThan(80);
  });

  it.each(steps)('%s imports %s', (from, to) => {
    expect(importsOf(from)).toContain(to);
  });

  it('and ARCHITECTURE.md name files that exist', () => {
    const named = [
      ...`${map} ${text}`.matchAll(/`((?:daemon|console|protocol|queries|test)\/[\w./-]+\.\w+)`/g),
    ].map(([, file]) => file as string);
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});
