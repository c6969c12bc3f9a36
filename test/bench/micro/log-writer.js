// How long the log of one cache hit takes to write: thirty-six records into the staging buffer, and their share
// of the write to the ring (32 requests a turn, as under load). Runs dist/; prints CPU microseconds a request.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LogMask } from '../../../dist/modules/daemon/log/log-mask.js';
import { RingPlace } from '../../../dist/modules/daemon/log/ring-place.js';
import { RingWriter } from '../../../dist/modules/daemon/log/ring-writer.js';
import { LogShared, TxLog } from '../../../dist/modules/daemon/log/tx-log.js';
import { logHit } from '../hit-records.js';

const dir = mkdtempSync('/dev/shm/log-bench-');
const counters = { shm_records: 0, shm_writes: 0, shm_flushes: 0, shm_cycles: 0 };
const writer = new RingWriter(RingPlace.begin(join(dir, 'log.ring'), 80 << 20), counters);
const log = new TxLog(new LogShared(writer, new LogMask()));
let vxid = 1;
function run(turns, write) {
  const from = process.cpuUsage();
  for (let t = 0; t < turns; t++) {
    for (let i = 0; i < 32; i++) logHit(log, vxid++);
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
  `log of a hit, 36 records: encode ${encode.toFixed(2)} us, with the write ${all.toFixed(2)} us a request`,
);
writer.close();
rmSync(dir, { recursive: true });
