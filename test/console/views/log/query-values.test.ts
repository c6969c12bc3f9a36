import { expect, it } from 'vitest';
import { LogStore } from '../../../../console/model/log/log-store.ts';
import { completeFromLog } from '../../../../console/views/log/log-query.ts';
import { FAKE_START, fakeGroup } from '../../fake-recording.ts';

const store = new LogStore({ maxBytes: 1e6, maxEntries: 100 });
for (const [i, url] of ['/a', '/b c', '/a'].entries())
  store.add(
    fakeGroup({
      vxid: 1000 + i,
      at: FAKE_START,
      method: 'GET',
      url,
      status: 200,
      handling: 'HIT',
      seconds: 0.1,
      body: 1,
    }),
  );

const texts = (query: string): string[] | undefined =>
  completeFromLog(query, query.length, store)?.candidates.map((c) => c.text);

it.each([
  ['ReqHeader:', ['Host', 'User-Agent']],
  ['reqheader:us', ['User-Agent']],
  ['ReqHeader:host eq ', ['shop.example']],
  ['ReqURL eq ', ['"/a"', '"/b c"']],
  ['ReqURL eq "/b', ['/b c"']],
  ['RespStatus == 2', ['200']],
  ['vxid == ', ['1002', '1001', '1000']],
  ['ReqMethod eq P', []],
])('%s', (query, expected) => {
  expect(texts(query)).toEqual(expected);
});

it('leaves all else to the grammar', () => {
  expect(completeFromLog('Req', 3, store)).toBeNull();
  expect(completeFromLog('ReqURL ~ ', 9, store)).toBeNull();
});
