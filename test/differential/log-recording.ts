// Recordings made up of random transactions, for comparing readers of the log: records of every kind that the
// tools look at, complete and odd, in any order. The same seed gives the same bytes.

import { encodeRecord, LOG_FILE_MAGIC, type RecordSide } from '../../protocol/log-record.ts';
import { TAGS } from '../../protocol/tables/tags.ts';

const TEXTS = [
  'a',
  'foo bar',
  'a"b\\c',
  '\x01\x7f\x80\xff',
  'tab\there',
  '',
  ' ',
  'x:y',
  'foo:  a  b c ',
  '\xe9',
];
const TIMES = [
  '1700000000.123456 0.000100 0.000200',
  '1700000001.9 1.5 2.5',
  '1700000100.000000 0.1',
  'abc',
  '',
];
const STAMPS = [
  'Start',
  'Resp',
  'PipeSess',
  'BerespBody',
  'Process',
  'Pipe',
  'Beresp',
  'start',
  'Req',
  'Bereq',
];
const STAMPED = STAMPS.flatMap((name) => TIMES.map((time) => `${name}: ${time}`));

/** Possible contents of each kind of record. */
const SAYINGS: Readonly<Record<string, readonly string[]>> = {
  ReqStart: ['1.2.3.4 80 a0', '::1', '', ' 5.6.7.8 1'],
  BackendOpen: ['28 default 127.0.0.1 80 127.0.0.1 4000 connect', '28 b', '28 b 9.9.9.9'],
  ReqMethod: ['GET', 'PO ST', 'G"ET', ''],
  BereqMethod: ['GET', 'HEAD'],
  ReqURL: ['/', '/a?b=c', '/a?b?c', '?', '/\xe9"', '', '/x y'],
  BereqURL: ['/b', '/b?c', ''],
  ReqProtocol: ['HTTP/1.1', '', 'HTTP/2.0'],
  BereqProtocol: ['HTTP/1.1'],
  RespStatus: ['200', '404', '', '2 00'],
  BerespStatus: ['200', '500'],
  ReqAcct: ['1 2 3 4 5 6', '1 2 3 4 0 6', '1 2 3', '', '10 0 10 20 00 20', 'a b c d e f'],
  BereqAcct: ['11 12 13 14 15 16', '1 0 1 1 0 1'],
  PipeAcct: ['21 22 23 24', '1 2'],
  Timestamp: STAMPED,
  ReqHeader: [
    'Host: a.b',
    'host: second',
    'Host:',
    'Referer: r1',
    'referer:r2',
    'User-Agent: u "a"',
    'Authorization: Basic dXNlcjpwYXNz',
    'authorization: basic  dXNlcg==',
    'Authorization: Bearer x',
    'Authorization: Basic !!!',
    'Authorization: BASIC dTp2Og==',
    'Authorization: Basic OnBhc3M=',
    'X-A: ',
    'X-A: 1',
    'X-A : 2',
    'X-A: \x01\xff',
    'Host: https://x',
  ],
  BereqHeader: ['Host: be', 'X-A: be', 'Referer: x y'],
  RespHeader: ['X-B: 1', 'x-b: 2', 'X-B:\t3 4'],
  BerespHeader: ['X-B: be1', 'X-C: z'],
  ReqUnset: ['X-A: 1'],
  VCL_call: ['HIT', 'MISS', 'PASS', 'SYNTH', 'PIPE', 'RECV', 'HASH', 'DELIVER', 'BACKEND_ERROR', 'hit'],
  VCL_return: [
    'hash',
    'lookup',
    'pass',
    'pipe',
    'synth',
    'deliver',
    'fetch',
    'deliver',
    'fetch',
    'restart',
    'retry',
  ],
  VCL_Log: ['key:value', 'key: v2', 'Key:v3', 'key', 'key2:x', 'key: a b c', 'other: "q"', 'key:', ':empty'],
  Hash: ['abc'],
  Debug: ['dbg'],
  HttpGarbage: ['GARB AGE'],
  Hit: ['32770 100.0 10.0 0.0'],
  Error: TEXTS,
  FetchError: TEXTS,
  BogoHeader: TEXTS,
  LostHeader: TEXTS,
  VCL_Error: TEXTS,
  Filters: TEXTS,
  H2RxHdr: ['ab'],
};
const KINDS = Object.keys(SAYINGS);

/** A recording of this many transactions. */
export function makeRecording(seed: number, transactions: number): Buffer {
  let state = seed;
  const below = (n: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % n;
  };
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const out: Uint8Array[] = [LOG_FILE_MAGIC];
  for (let vxid = 3; vxid < 3 + transactions; vxid++) {
    const type = pick(['req', 'req', 'req', 'bereq', 'sess']);
    const mark: RecordSide = type === 'bereq' ? 'b' : 'c';
    const side = pick<RecordSide>([mark, mark, mark, '-']);
    const record = (name: string, text: string, on = side): void => {
      out.push(encodeRecord(TAGS.findIndex((row) => row.name === name) + 1, vxid, on, text));
    };
    const reasons = type === 'req' ? ['rxreq', 'rxreq', 'esi', 'restart'] : ['fetch', 'retry', 'pass'];
    record('Begin', `${type} ${pick([0, 1, vxid - 1])} ${type === 'sess' ? 'HTTP/1' : pick(reasons)}`);
    const full = below(3) > 0;
    if (full && type === 'req') {
      for (const name of ['ReqStart', 'ReqMethod', 'ReqURL', 'ReqProtocol'])
        record(name, pick(SAYINGS[name] ?? []));
    }
    if (full) record('Timestamp', 'Start: 1700000000.123456 0.000000 0.000000');
    for (let k = below(25); k > 0; k--) {
      const name = pick(KINDS);
      record(name, pick(SAYINGS[name] ?? []), below(20) === 0 ? '-' : side);
    }
    if (full) record('Timestamp', `Resp: 170000000${below(9)}.${100_000 + below(800_000)} 0.5 0.1`);
    record('End', '');
  }
  return Buffer.concat(out);
}
