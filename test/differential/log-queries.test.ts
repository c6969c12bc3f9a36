// The corpus of queries, right and wrong, over recordings of varied traffic, one of Varnish's daemon and one of
// proxyd, read as one: the same transactions found and the same words about mistakes, from Varnish's log tool
// and from ours.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOG_FILE_MAGIC } from '../../protocol/log-record.ts';
import { BAD, GOOD } from '../queries/queries.ts';
import { VARIED } from '../queries/varied-queries.ts';
import { field, fieldTool, fixture, ours } from './log-tools.ts';

const RECORDINGS = ['varied.vsl', 'proxyd.vsl'].map((name) => readFileSync(fixture(name)));
const CORPUS = [...new Set([...VARIED, ...GOOD, ...BAD])];
const GROUPINGS = ['request', 'vxid', 'raw', 'session'] as const;

describe.skipIf(fieldTool === null)('the query corpus', () => {
  let dir = '';
  let file = '';
  const records = RECORDINGS.map((recording) => recording.subarray(LOG_FILE_MAGIC.length));
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'log-queries-'));
    file = join(dir, 'both.vsl');
    writeFileSync(file, Buffer.concat([LOG_FILE_MAGIC, ...records]));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('is large enough', () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(300);
  });

  it.each(CORPUS.map((q, i) => [GROUPINGS[i % GROUPINGS.length] as string, q]))(
    'in %s grouping: %j',
    async (grouping, query) => {
      const args = ['-g', grouping, '-q', query, '-i', 'Begin'];
      expect(await ours(file, args)).toEqual(await field(file, args));
    },
  );
});
