// Each statement of the notes of Varnish 7.2 to 9.0 has a test, which is there, or a reason.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RELEASE_NOTES } from './release-notes.ts';
import { RELEASE_NOTES_7 } from './release-notes-7.ts';

const root = join(import.meta.dirname, '../../..');

it('names tests that are there, or a reason', () => {
  const texts = new Map<string, string>();
  const missing: string[] = [];
  for (const { says, tests, reason } of [...RELEASE_NOTES_7, ...RELEASE_NOTES]) {
    if (tests.length === 0 && reason === undefined) missing.push(says);
    for (const [file, text] of tests) {
      let content = texts.get(file);
      if (content === undefined) {
        content = readFileSync(join(root, file), 'utf8');
        texts.set(file, content);
      }
      if (!content.includes(text)) missing.push(`${file}: ${text}`);
    }
  }
  expect(missing).toEqual([]);
});
