import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isWritten, TAGS, type TagRow } from '../../protocol/tables/tags.ts';
import { unwrittenTags, unwrittenText } from '../../queries/unwritten-tags.ts';

it.each([
  [{ query: 'Witness ~ x' }, ['Witness']],
  [{ query: 'ReqURL ~ x or not (WorkThread and vxid > 1)' }, ['WorkThread']],
  [{ query: 'Wi* ~ x' }, ['Witness']],
  [{ query: 'ReqURL' }, []],
  // One of the tags is written.
  [{ query: 'Witness,ReqURL ~ x' }, []],
  [{ query: 'W* ~ x' }, ['WorkThread', 'Witness']],
  [{ filters: [{ kind: 'include-tags', tags: 'ReqURL,Witness' }] }, ['Witness']],
  [{ filters: [{ kind: 'include-regex', tags: 'witn', regex: 'x' }] }, ['Witness']],
  [{ filters: [{ kind: 'include-regex', tags: '*', regex: 'x' }] }, []],
  [{ filters: [{ kind: 'exclude-tags', tags: 'Witness' }] }, []],
  [{}, []],
] as const)('%j', (sub, names) => {
  expect(unwrittenTags(sub as Parameters<typeof unwrittenTags>[0])).toEqual(names);
});

it('says it in a sentence', () => {
  expect(unwrittenText([])).toBeNull();
  expect(unwrittenText(['Witness'])).toMatch(/^Witness: proxyd never writes this tag/);
  expect(unwrittenText(['Witness', 'WorkThread'])).toMatch(/^Witness, WorkThread: .* these tags/);
});

/** Tags that no line of the daemon names: an offset from the family's first is all that is written of them. */
const FAMILY = /^(Req|Resp|Bereq|Beresp)(Method|URL|Protocol|Status|Reason|Header|Unset)$/;

it('the table says of each tag whether the daemon writes it', () => {
  const root = new URL('../../daemon/', import.meta.url).pathname;
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
  for (const row of TAGS as readonly TagRow[]) {
    // The log's readers note by themselves what they left out.
    if (row.name === 'VSL' || (FAMILY.test(row.name) && isWritten(row))) continue;
    const named = new RegExp(`Tag\\.${row.name}\\b`).test(sources) || sources.includes(`'${row.name}'`);
    expect([row.name, isWritten(row)]).toEqual([row.name, named && !row.flags.includes('unused')]);
  }
});
