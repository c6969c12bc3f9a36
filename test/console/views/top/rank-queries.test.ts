// The query of a ranking's row finds exactly its requests.

import { describe, expect, it } from 'vitest';
import type { RankingName } from '../../../../console/model/traffic/rankings.ts';
import { rankQuery } from '../../../../console/views/top/rank-subjects.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import { LogSelection } from '../../../../queries/log-selection.ts';
import { record } from '../../fake-recording.ts';

function request(client: string, url: string, forwarded: string): LogTransaction {
  const records = Buffer.concat([
    record('c', 2, 'Begin', 'req 1 rxreq'),
    record('c', 2, 'ReqStart', `${client} 1 a0`),
    record('c', 2, 'ReqURL', url),
    record('c', 2, 'ReqHeader', 'Host: shop.example'),
    record('c', 2, 'ReqHeader', `X-Forwarded-For: ${forwarded}`),
  ]);
  return { level: 1, type: 'request', reason: 'rxreq', vxid: 2, parent: 1, records };
}

const IN = request('2001:db8:1::7', '/img/a.png?x=1', '203.0.113.9, 192.0.2.1');
const OUT = request('2001:db8:1:5::7', '/img2/a.png.gz', '203.0.113.99');
const V4 = request('192.0.2.7', '/', '');
const V4_OUT = request('192.0.20.7', '/a/b', '');

describe('queries of rankings', () => {
  it.each<[RankingName, string, LogTransaction, LogTransaction]>([
    ['page', 'shop.example/img/a.png', IN, OUT],
    ['prefix', '/img/', IN, OUT],
    ['prefix', '/', V4, V4_OUT],
    ['network', '2001:db8:1:0::/64', IN, OUT],
    ['network', '2001:db8:1:5::/64', OUT, IN],
    ['network', '192.0.2.0/24', V4, V4_OUT],
    ['forwarded', '203.0.113.9', IN, OUT],
  ])('%s %s', (ranking, key, found, other) => {
    const selection = LogSelection.create({
      grouping: 'request',
      from: 'head',
      query: rankQuery(ranking, key),
    });
    if (!(selection instanceof LogSelection)) throw new Error(selection.message);
    expect([found, other].map((tx) => selection.take([tx], 0) !== null)).toEqual([true, false]);
  });
});
