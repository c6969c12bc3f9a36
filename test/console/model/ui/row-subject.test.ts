// Subjects of rows, as bans.
import { expect, it } from 'vitest';
import type { Source } from '../../../../console/client/source.ts';
import { AdminStore } from '../../../../console/model/session/admin-store.ts';
import { subjectsOf } from '../../../../console/model/ui/row-actions.ts';
import { banOf, hostLast, subjectRow } from '../../../../console/model/ui/row-subject.ts';
import type { ViewContext } from '../../../../console/model/ui/view.ts';

const url = (key: string) => ({ kind: 'url', key, of: 'shop.example' }) as const;

it('a URL is banned exactly', () => {
  expect(banOf(url('/a?b=1'))).toBe('req.http.host == shop.example && req.url == /a?b=1');
  expect(subjectRow(url('/a')).words(url('/a'))).toBe('shop.example/a');
});

it('the host of a condition comes last, before who banned it', () => {
  const ban = 'req.http.host == shop.example && req.url ~ ^/a/';
  expect(hostLast(ban)).toBe('req.url ~ ^/a/ on shop.example');
  expect(hostLast(`${ban} (by the program, for the client 127.0.0.1)`)).toBe(
    'req.url ~ ^/a/ on shop.example (by the program, for the client 127.0.0.1)',
  );
  expect(hostLast('obj.status == 404')).toBe('obj.status == 404');
});

it('a URL that the log may have cut is banned with everything that has this prefix, with a remark', () => {
  const cut = { ...url('/a.b'), isCut: true };
  expect(banOf(cut)).toContain(` && req.url ~ "^/a\\\\.b`);
  expect(subjectRow(cut).words(cut)).toBe('URLs that begin with shop.example/a.b');
  expect(banOf({ ...cut, kind: 'path' })).not.toContain('([?#]|$)');
});

/** The subject of a view's row on an instance that answers like this when queried for its parameters. */
async function standsFor(key: string, body: string): Promise<boolean | undefined> {
  const source = { command: () => Promise.resolve({ status: body === '' ? 0 : 200, body }) };
  const admin = new AdminStore(
    source as unknown as Source,
    () => 0,
    () => undefined,
  );
  const c = {
    view: { subjects: () => [url(key)] },
    session: { admin },
  } as unknown as ViewContext;
  subjectsOf(c);
  await new Promise(setImmediate);
  return subjectsOf(c)[0]?.isCut;
}

const reclen = (...values: (number | string)[]): string =>
  JSON.stringify([2, [], 0, ...values.map((value) => ({ name: 'vsl_reclen', value }))]);

it.each([
  ['', 254],
  [reclen(255), 254],
  [reclen(1024), 1023],
  [reclen('4k'), 4095],
  [reclen(16), 15],
  // Two instances as one.
  [reclen(1024, 512), 511],
  ['not understood', 254],
])('is as long as the instance’s vsl_reclen has it: %s', async (body, longest) => {
  expect(await standsFor('/'.padEnd(longest - 1, 'x'), body)).toBe(false);
  expect(await standsFor('/'.padEnd(longest, 'x'), body)).toBe(true);
});
