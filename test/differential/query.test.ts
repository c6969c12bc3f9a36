// The same recording and the same arguments through Varnish's log tool and through our query, filter,
// grouping and text code: the same bytes out, the same error text.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { encodeRecord, LOG_FILE_MAGIC } from '../../protocol/log-record.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { BAD, GOOD } from '../queries/queries.ts';
import { fieldTool, fixture, ours, field as real } from './log-tools.ts';

const FILE = fixture('mixed.vsl');
const tool = fieldTool;

async function same(args: readonly string[]): Promise<void> {
  expect(await ours(FILE, args), args.join(' ')).toEqual(await real(FILE, args));
}

describe.skipIf(tool === null)('beside Varnish log tool', () => {
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

/** Texts with quotes, to be cut into fields. */
const QUOTED = [
  ...['a "b c" d', '"a b" c', '"a b"c d', 'a"b c"d e', 'a "b c', "a 'b c' d", 'a "b c"" d e" f', '"', 'a "'],
  ...[
    'a "b c" "d e" f',
    'a "b \\" c" d',
    'a "b\tc"\t"d"',
    'x: "b c" d',
    'x:"b c" d',
    'a  "b c"  d ',
    '"\\"" b',
  ],
  'default Still healthy 4---X-RH 8 3 8 0.000300 0.000300 "HTTP/1.1 200 OK"',
];

describe.skipIf(tool === null)('fields with quotes', () => {
  const dir = mkdtempSync(join(tmpdir(), 'log-fields-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const records = QUOTED.flatMap((text, i) =>
    [
      [Tag.Begin, 'req 1 rxreq'],
      [Tag.VCL_Log, text],
      [Tag.End, ''],
    ].map(([tag, data]) => encodeRecord(tag as number, 2 + i, 'c', data as string)),
  );
  const file = join(dir, 'quoted.vsl');
  writeFileSync(file, Buffer.concat([LOG_FILE_MAGIC, ...records]));

  it.each([
    ...[1, 2, 3, 4, 5].flatMap((n) =>
      ['.', '^.$', '^..$', '^...$', '^.{4,}$'].map((r) => `VCL_Log[${n}] ~ "${r}"`),
    ),
    ...['a', 'b c', 'a b', 'c', 'd'].flatMap((word) => [1, 2, 3].map((n) => `VCL_Log[${n}] eq '${word}'`)),
    "VCL_Log:x[1] eq 'b c'",
    "VCL_Log[10] eq 'HTTP/1.1 200 OK'",
    "VCL_Log[10] ne 'HTTP/1.1 200 OK'",
  ])('query %j selects the same', async (q) => {
    const args = ['-g', 'request', '-q', q];
    expect(await ours(file, args)).toEqual(await real(file, args));
  });
});
