// The records of one cache hit, as the worker writes them, for benches that need a log without a worker.
import { PreparedRecords } from '../../dist/modules/daemon/log/tx-log.js';
import { Tag } from '../../dist/modules/protocol/tables/tags.js';

/** Status of one request in so many. */
export const RARE = 503;
const RARELY = 10_000;

const lookup = new PreparedRecords([
  [Tag.VCL_call, 'RECV'],
  [Tag.VCL_return, 'hash'],
  [Tag.VCL_call, 'HASH'],
  [Tag.VCL_return, 'lookup'],
]);
const hit = new PreparedRecords([
  [Tag.VCL_call, 'HIT'],
  [Tag.VCL_return, 'deliver'],
]);
const deliver = new PreparedRecords([
  [Tag.VCL_call, 'DELIVER'],
  [Tag.VCL_return, 'deliver'],
]);
const reqHeaders = ['Host: 127.0.0.1:9320', 'X-Forwarded-For: 127.0.0.1'];
const respHeaders = [
  'Content-Type: text/plain',
  'Content-Length: 1024',
  'Last-Modified: Sat, 21 Nov 2026 01:00:00 GMT',
  'ETag: "6560a1b2-400"',
  'Cache-Control: max-age=60',
];

/** Logs request number `vxid`, thirty-six records; whether it is one of the rare ones. */
export function logHit(log, vxid) {
  const now = 1795220603.16039 + vxid * 1e-5;
  const rare = vxid % RARELY === 0;
  log.begin(vxid, 'c');
  log.put(Tag.Begin, 'req 0 rxreq');
  log.timestamp('Start', now);
  log.timestamp('Req', now);
  log.put(Tag.VCL_use, 'boot');
  log.put(Tag.ReqStart, '127.0.0.1 35450 a0');
  log.put(Tag.ReqMethod, 'GET');
  log.put(Tag.ReqURL, '/1k.bin');
  log.put(Tag.ReqProtocol, 'HTTP/1.1');
  for (const h of reqHeaders) log.put(Tag.ReqHeader, h);
  log.putConstant(lookup);
  log.open().int(3).text(' ').fixed(59.858369).text(' ').fixed(10).text(' ').fixed(0).close(Tag.Hit);
  log.putConstant(hit);
  log.put(Tag.RespProtocol, 'HTTP/1.1');
  log.put(Tag.RespStatus, rare ? String(RARE) : '200');
  log.put(Tag.RespReason, 'OK');
  for (const h of respHeaders) log.put(Tag.RespHeader, h);
  log.open().text('X-Proxy-Id: ').int(vxid).text(' 3').close(Tag.RespHeader);
  log.put(Tag.RespHeader, 'Age: 12');
  log.put(Tag.RespHeader, 'Via: 1.1 host (proxyd/0.1)');
  log.putConstant(deliver);
  log.timestamp('Process', now + 0.0000301);
  log.put(Tag.Filters, '');
  log.put(Tag.RespHeader, 'Connection: keep-alive');
  log.timestamp('Resp', now + 0.0000502);
  log.acct(Tag.ReqAcct, 42, 0, 42, 280, 1024, 1304);
  log.put(Tag.End, '');
  return rare;
}
