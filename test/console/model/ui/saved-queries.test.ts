// Queries that every console has.
import { expect, it } from 'vitest';
import { checkQuery } from '../../../../console/model/ui/query-parser.ts';
import {
  BUILTIN_QUERIES,
  namedQueries,
  volatileQueries,
} from '../../../../console/model/ui/saved-queries.ts';

it.each(BUILTIN_QUERIES)('$name is a query for what is written', ({ name, query, help }) => {
  expect(checkQuery(query)).toEqual({ ok: true });
  expect(name).toMatch(/^[\w.-]{1,14}$/);
  expect(help.length).toBeLessThanOrEqual(28);
});

it('the operator’s own come first and take the place of one of the same name', () => {
  const [first, ...more] = namedQueries(volatileQueries({ slow: 'RespStatus == 504' }));
  expect(first).toEqual({ name: 'slow', query: 'RespStatus == 504', help: 'RespStatus == 504' });
  expect(more.map((one) => one.name)).not.toContain('slow');
  expect(more).toHaveLength(BUILTIN_QUERIES.length - 1);
});
