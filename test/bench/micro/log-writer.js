// How long the log of one cache hit takes to write: thirty-eight records into the staging buffer, and their share
// of the write to the ring (32 requests a turn, as under load). Runs dist/; prints CPU microseconds a request.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LogMask } from '../../../dist/daemon/log/log-mask.js';
import { RingWriter } from '../../../dist/daemon/log/ring-writer.js';
import { LogShared, PreparedRecords, TxLog } from '../../../dist/daemon/log/tx-log.js';
import { Tag } from '../../../dist/protocol/tables/tags.js';

const dir = mkdtempSync('/dev/shm/log-bench-');
const counters = { shm_records: 0, shm_writes: 0, shm_flushes: 0, shm_cycles: 0 };
const writer = new RingWriter(join(dir, 'log.ring'), 80 << 20, counters);
const log = new TxLog(new LogShared(writer, new LogMask()));
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

let vxid = 1;
function request() {
  const now = 1795220603.16039 + vxid * 1e-5;
  log.begin(vxid++, 'c');
  log.put(Tag.Begin, 'req 1 rxreq');
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
  log.put(Tag.RespStatus, '200');
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
}

function run(turns, write) {
  const from = process.cpuUsage();
  for (let t = 0; t < turns; t++) {
    for (let i = 0; i < 32; i++) request();
    if (write) writer.flush();
    else {
      writer.pos = 32;
      writer.count = 0;
    }
  }
  const { user, system } = process.cpuUsage(from);
  return (user + system) / (turns * 32);
}

run(2000, true);
run(2000, false);
const best = (write) => Math.min(...Array.from({ length: 7 }, () => run(2000, write)));
const encode = best(false);
const all = best(true);
console.log(
  `log of a hit, 38 records: encode ${encode.toFixed(2)} us, with the write ${all.toFixed(2)} us a request`,
);
writer.close();
rmSync(dir, { recursive: true });
