// The corpus of queries, right and wrong, over one recording of varied traffic: the same transactions found and
// the same words about mistakes, from the field's log tool and from ours.
import { describe, expect, it } from 'vitest';
import { BAD, GOOD } from '../queries/queries.ts';
import { VARIED } from '../queries/varied-queries.ts';
import { field, fieldTool, fixture, ours } from './log-tools.ts';

const FILE = fixture('varied.vsl');
const CORPUS = [...new Set([...VARIED, ...GOOD, ...BAD])];
const GROUPINGS = ['request', 'vxid', 'raw', 'session'] as const;

describe.skipIf(fieldTool === null)('the query corpus', () => {
  it('is large enough', () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(300);
  });

  it.each(CORPUS.map((q, i) => [GROUPINGS[i % GROUPINGS.length] as string, q]))(
    'in %s grouping: %j',
    async (grouping, query) => {
      const args = ['-g', grouping, '-q', query, '-i', 'Begin'];
      expect(await ours(FILE, args)).toEqual(await field(FILE, args));
    },
  );
});
