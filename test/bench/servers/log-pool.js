// Made-up log groups of the kind a busy site gives: visitors' headers, hits and misses with their backend request,
// a few errors. Some 60 records and 2 KB a group, no two alike, the same in every run.
import { encodeRecord } from '../../../dist/modules/protocol/log-record.js';
import { Tag } from '../../../dist/modules/protocol/tables/tags.js';

const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
];
const START = 1_795_220_600;

export function makeGroups(count) {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (n) => Math.floor(random() * n);
  return Array.from({ length: count }, (_, n) => group(n, below, random));
}

function group(n, below, random) {
  const vxid = 32_770 + n * 3;
  const luck = random();
  const fetched = luck < 0.2;
  const status = luck < 0.003 ? 503 : luck > 0.97 ? 404 : 200;
  const url = `/products/${Math.floor(below(400) * random())}?ref=${below(9)}`;
  const at = START + n / 20_000;
  const took = fetched ? 0.01 + random() / 20 : 0.00005 + random() / 5000;
  const body = 400 + below(40_000);
  const stamp = (event, after, since) =>
    `${event}: ${(at + after).toFixed(6)} ${after.toFixed(6)} ${since.toFixed(6)}`;
  const asked = [
    'Host: shop.example',
    `User-Agent: ${AGENTS[below(3)]}`,
    'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    `Accept-Language: ${['en', 'de', 'fr'][below(3)]}`,
    'Accept-Encoding: gzip, deflate, br',
    `Referer: https://shop.example/products/${below(400)}`,
    'Sec-Fetch-Dest: document',
    'Sec-Fetch-Mode: navigate',
    `X-Request-Id: ${random().toString(36).slice(2)}${random().toString(36).slice(2)}`,
    `X-Forwarded-For: 10.${below(256)}.${below(256)}.${below(256)}`,
  ];
  const answered = [
    'Content-Type: text/html; charset=utf-8',
    'Cache-Control: public, max-age=20',
    `Date: Sat, 21 Nov 2026 10:${10 + below(50)}:${10 + below(50)} GMT`,
    `Content-Length: ${body}`,
    'Vary: Accept-Language',
  ];
  const tag = (name) => (text) => [name, text];
  const client = [
    ['Begin', `req ${vxid - 1} rxreq`],
    ['Timestamp', stamp('Start', 0, 0)],
    ['Timestamp', stamp('Req', 0, 0)],
    ['VCL_use', 'boot'],
    ['ReqStart', `10.${below(256)}.${below(256)}.7 ${1024 + below(60_000)} a0`],
    ['ReqMethod', 'GET'],
    ['ReqURL', url],
    ['ReqProtocol', 'HTTP/1.1'],
    ...asked.map(tag('ReqHeader')),
    ['VCL_call', 'RECV'],
    ['VCL_return', 'hash'],
    ['ReqUnset', 'Accept-Encoding: gzip, deflate, br'],
    ['ReqHeader', 'Accept-Encoding: gzip'],
    ['VCL_call', 'HASH'],
    ['VCL_return', 'lookup'],
    ...(fetched ? [] : [['Hit', `${vxid - 3 * below(90)} ${(random() * 20).toFixed(6)} 10.000000 0.000000`]]),
    ['VCL_call', fetched ? 'MISS' : 'HIT'],
    ['VCL_return', fetched ? 'fetch' : 'deliver'],
    ...(fetched
      ? [
          ['Link', `bereq ${vxid + 1} fetch`],
          ['Timestamp', stamp('Fetch', took, took)],
        ]
      : []),
    ['RespProtocol', 'HTTP/1.1'],
    ['RespStatus', String(status)],
    ['RespReason', status === 200 ? 'OK' : status === 404 ? 'Not Found' : 'Backend fetch failed'],
    ...answered.map(tag('RespHeader')),
    ['RespHeader', `X-Proxy-Id: ${vxid}`],
    ['RespHeader', `Age: ${below(20)}`],
    ['RespHeader', 'Via: 1.1 edge (proxyd/0.1)'],
    ['VCL_call', 'DELIVER'],
    ['RespHeader', `X-Cache: ${fetched ? 'MISS' : 'HIT'}`],
    ['VCL_return', 'deliver'],
    ['Timestamp', stamp('Process', took, took / 9)],
    ['Filters', ''],
    ['RespHeader', 'Accept-Ranges: bytes'],
    ['RespHeader', 'Connection: keep-alive'],
    ['Timestamp', stamp('Resp', took * 1.1, took / 10)],
    ['ReqAcct', `612 0 612 ${300 + below(90)} ${body} ${body + 390}`],
    ['End', ''],
  ];
  const made = [transaction('request', 1, 'rxreq', vxid, vxid - 1, 'c', client)];
  if (!fetched) return made;
  const id = vxid + 1;
  const backend = [
    ['Begin', `bereq ${vxid} fetch`],
    ['VCL_use', 'boot'],
    ['Timestamp', stamp('Start', 0, 0)],
    ['BereqMethod', 'GET'],
    ['BereqURL', url],
    ['BereqProtocol', 'HTTP/1.1'],
    ...asked.map(tag('BereqHeader')),
    ['BereqHeader', `X-Proxy-Id: ${id}`],
    ['VCL_call', 'BACKEND_FETCH'],
    ['VCL_return', 'fetch'],
    ['Timestamp', stamp('Fetch', 0.00001, 0.00001)],
    ['BackendOpen', `${20 + below(9)} boot.shop 127.0.0.1 8080 127.0.0.1 ${1024 + below(60_000)} reuse`],
    ['Timestamp', stamp('Connected', 0.0001, 0.0001)],
    ['Timestamp', stamp('Bereq', 0.0001, 0.00002)],
    ['Timestamp', stamp('Beresp', took * 0.9, took * 0.9)],
    ['BerespProtocol', 'HTTP/1.1'],
    ['BerespStatus', String(status)],
    ['BerespReason', 'OK'],
    ...answered.map(tag('BerespHeader')),
    ['TTL', `RFC 20 10 0 ${at.toFixed(0)} ${at.toFixed(0)} ${at.toFixed(0)} 0 20 cacheable`],
    ['VCL_call', 'BACKEND_RESPONSE'],
    ['VCL_return', 'deliver'],
    ['Timestamp', stamp('Process', took * 0.9, 0.00001)],
    ['Storage', 'malloc s0'],
    ['Fetch_Body', '3 length stream'],
    ['BackendClose', '23 boot.shop recycle'],
    ['Timestamp', stamp('BerespBody', took, took / 10)],
    ['Length', String(body)],
    ['BereqAcct', `640 0 640 ${280 + below(60)} ${body} ${body + 340}`],
    ['End', ''],
  ];
  return [...made, transaction('bereq', 2, 'fetch', id, vxid, 'b', backend)];
}

function transaction(type, level, reason, vxid, parent, side, lines) {
  const records = Buffer.concat(lines.map(([name, text]) => encodeRecord(Tag[name], vxid, side, text)));
  return { level, type, first: level === 1, reason, vxid, parent, records };
}
