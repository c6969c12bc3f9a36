// The same recording and the same arguments through the field's log tool and through our query, filter,
// grouping and text code: the same bytes out, the same error text.

import { describe, expect, it } from 'vitest';
import { BAD, GOOD } from '../queries/queries.ts';
import { fieldTool, fixture, ours, field as real } from './log-tools.ts';

const FILE = fixture('mixed.vsl');
const tool = fieldTool;

async function same(args: readonly string[]): Promise<void> {
  expect(await ours(FILE, args), args.join(' ')).toEqual(await real(FILE, args));
}

describe.skipIf(tool === null)('beside the field log tool', () => {
  it.each(['vxid', 'request', 'session', 'raw'])('%s grouping prints the same bytes', async (g) => {
    await same(['-g', g]);
    await same(['-g', g, '-v']);
  });

  it.each(GOOD)('query %j selects the same', async (q) => {
    for (const g of ['raw', 'vxid', 'request']) await same(['-g', g, '-q', q]);
  });

  it.each(BAD)('query %j has the same error', async (q) => {
    await same(['-q', q]);
  });

  it.each([
    ['-C', '-q', 'ReqURL ~ "/A"'],
    ['-C', '-q', 'ReqMethod eq get'],
    ['-C', '-q', 'ReqMethod ne get'],
    ['-q', 'ReqURL ~ b', '-q', 'RespStatus == 404'],
    ['-i', 'ReqURL'],
    ['-i', 'Req*', '-x', 'ReqHeader'],
    ['-x', 'ReqURL', '-i', 'ReqURL'],
    ['-x', '*', '-i', 'ReqURL'],
    ['-i', 'ReqURL,RespStatus', '-g', 'request'],
    ['-I', 'ReqURL:^/a'],
    ['-I', '^GET'],
    ['-I', 'ReqHeader,RespHeader:^Host'],
    ['-X', 'ReqURL:.'],
    ['-i', 'ReqURL', '-I', 'RespHeader:Via'],
    ['-I', 'ReqURL:^/a', '-x', 'ReqURL'],
    ['-x', 'ReqURL', '-I', 'ReqURL:^/a'],
    ['-X', 'ReqURL:^/a', '-I', 'ReqURL:a'],
    ['-I', 'ReqURL:a', '-X', 'ReqURL:^/a'],
    ['-i', 'ReqURL', '-X', 'ReqURL:^/a'],
    ['-C', '-I', 'ReqURL:^/A'],
    ['-c'],
    ['-b'],
    ['-c', '-E'],
    ['-c', '-g', 'session'],
    ['-b', '-g', 'request'],
    ['-c', '-g', 'raw'],
    ['-b', '-g', 'raw', '-i', 'BereqURL'],
    ['-k', '2'],
    ['-k', '1', '-g', 'request'],
    ['-k', '3', '-g', 'raw', '-q', 'ReqURL'],
    ['-L', '3'],
    ['-L', '5', '-g', 'request'],
    ['-i', 'Foo'],
    ['-i', 'Re'],
    ['-i', '*Error*'],
    ['-i', ''],
    ['-x', 'ReqURL, RespStatus'],
    ['-I', 'Foo:x'],
    ['-I', 'ReqURL:['],
    ['-I', ':x'],
    ['-X', '('],
    ['-g', 'foo'],
    ['-k', '0'],
    ['-k', 'x'],
    ['-L', '0'],
    ['-L', 'x'],
    ['-T', 'x'],
    ['-T', '-1'],
    ['-R', 'x'],
    ['-R', '1/x'],
    ['-R', '0'],
    ['-Q', '/nonexistent'],
    ['-i', 'ReqURL,Re'],
    ['-I', 'ReqURL,*x*:a'],
    [
      '-X',
      'ReqURL:^/a',
      '-X',
      'ReqURL:b',
      '-x',
      'RespHeader',
      '-I',
      'RespHeader:Via',
      '-X',
      'RespHeader:Via',
    ],
    ['-L', '2', '-g', 'session'],
    ['-i', 'ReqURL,'],
    ['-i', ',ReqURL'],
    ['-i', ','],
    ['-x', 'ReqURL,,RespStatus'],
    ['-I', 'ReqURL,:a'],
    ['-I', 'ReqURL:^/A', '-C'],
    ['-C', '-I', 'ReqURL:(?-i)^/A'],
    ['-I', 'ReqURL:^/A', '-C', '-I', 'ReqMethod:get'],
    ['-C', '-q', 'ReqURL ~ "(?-i)/A"'],
    ['-L', '1', '-g', 'request'],
    ['-L', '1'],
  ])('%s %s %s %s %s', async (...args) => {
    await same(args.filter((a) => a !== undefined));
  });
});
