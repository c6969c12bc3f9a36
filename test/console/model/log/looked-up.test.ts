// The URL and host that a lookup used, which bans compare.
import { expect, it } from 'vitest';
import { lastLookedUp, lookedUp } from '../../../../console/model/log/looked-up.ts';
import { readTraffic } from '../../../../console/model/traffic/traffic-facts.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import type { TagName } from '../../../../protocol/tables/tags.ts';
import { record } from '../../fake-recording.ts';

type Lines = readonly [TagName, string][];

function tx(vxid: number, lines: Lines, more: Partial<LogTransaction> = {}): LogTransaction {
  const records = Buffer.concat(lines.map(([tag, text]) => record('c', vxid, tag, text)));
  return { level: 1, type: 'request', reason: 'rxreq', vxid, parent: 1, records, ...more };
}

const SENT: Lines = [
  ['ReqURL', '/sent'],
  ['ReqHeader', 'Host: www.example'],
  ['VCL_call', 'RECV'],
  ['ReqURL', '/made'],
];

it('is what vcl_recv and vcl_hash made of it, and not what comes later', () => {
  const of = tx(2, [
    ...SENT,
    ['VCL_return', 'hash'],
    ['VCL_call', 'HASH'],
    ['ReqHeader', 'Host: example'],
    ['VCL_return', 'lookup'],
    ['ReqURL', '/later'],
  ]);
  expect(lookedUp(of)).toEqual({ url: '/made', host: 'example', found: true });
  expect(readTraffic([of])).toMatchObject([
    { url: '/sent', host: 'www.example', lookupUrl: '/made', lookupHost: 'example' },
  ]);
});

it('knows the host by its name, in any case, with and without a blank', () => {
  const host = (...headers: string[]): string =>
    lookedUp(
      tx(2, [...headers.map((h) => ['ReqHeader', h] as ['ReqHeader', string]), ['VCL_return', 'lookup']]),
    ).host;
  expect(host('HoST:one ')).toBe('one');
  expect(host('Host: one', 'Most: two', 'Hist: three', 'H', '')).toBe('one');
  expect(host('Host: one', 'host:')).toBe('');
});

it('of a fetch is what it began with', () => {
  const fetch = tx(
    3,
    [
      ['BereqURL', '/made'],
      ['BereqHeader', 'Host: example'],
      ['VCL_call', 'BACKEND_FETCH'],
      ['BereqURL', '/at/the/origin'],
    ],
    { type: 'bereq', reason: 'fetch' },
  );
  expect(lookedUp(fetch)).toMatchObject({ url: '/made', host: 'example' });
});

it('of a request that was restarted is its last lookup', () => {
  const lookup: Lines = [['VCL_return', 'lookup']];
  const lives = [
    tx(2, [...SENT, ...lookup]),
    tx(4, [['ReqURL', '/other'], ...lookup], { reason: 'restart' }),
    tx(6, [['ReqURL', '/answered/here']], { reason: 'restart' }),
  ];
  expect(lastLookedUp(lives).url).toBe('/other');
});
