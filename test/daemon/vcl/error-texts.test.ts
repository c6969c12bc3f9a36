// The table of the compiler's texts: every row is used, and there are no texts outside of it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MESSAGES } from '../../../daemon/vcl/error-texts.ts';

const VCL = new URL('../../../daemon/vcl/', import.meta.url).pathname;
const sources = readdirSync(VCL, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && name !== 'error-texts.ts')
  .map((name) => readFileSync(join(VCL, name), 'utf8'))
  .join('\n');

it('has no row that nobody uses', () => {
  expect(Object.keys(MESSAGES).filter((name) => !sources.includes(`MESSAGES.${name}(`))).toEqual([]);
});

it('is where every error comes from', () => {
  const calls = [...sources.matchAll(/reporter\.(?:error|fail|warn)\(\s*([^\s(,]+)/g)].map(
    (m) => m[1] as string,
  );
  expect(calls.length).toBeGreaterThan(120);
  expect(calls.filter((first) => !/^(?:MESSAGES\.\w+|message|r\.message)$/.test(first))).toEqual([]);
});
