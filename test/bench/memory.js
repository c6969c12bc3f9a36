// Resident memory after 50,000 URLs have gone through a store of 64 MiB: what the worker grew by, for bodies of
// 16 KiB, 1 KiB and 200 bytes, and the bound for it. Exits with 1 when a bound is broken. Usage:
//   node test/bench/memory.js [--objects 50000] [--sizes 16384,1024,200]
// Needs Linux. The bound: half as much again as the store at 16 KiB, and 100 MB with small objects (which the
// store's size does not count whole: each has a row and a key beside it).
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fill, startOrigin } from './fill.js';
import { largest, residentBytes, tree } from './processes.js';
import { sleep, startProxyd } from './servers/start.js';

const { values: options } = parseArgs({
  options: {
    objects: { type: 'string', default: '50000' },
    sizes: { type: 'string', default: '16384,1024,200' },
  },
});
const MIB = 1 << 20;
const STORE = 64;
let broken = false;
for (const size of options.sizes.split(',').map(Number)) {
  const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'proxyd-bench-'));
  const origin = await startOrigin(size);
  const server = await startProxyd('0-63', dir, origin.port, false, `malloc,${STORE}m`);
  try {
    await sleep(500);
    const before = new Map(tree(server.pid).map((pid) => [pid, residentBytes(pid)]));
    await fill(server.port, 0, Number(options.objects), size);
    await sleep(1500);
    const pid = largest(server.pid);
    const growth = (residentBytes(pid) - before.get(pid)) / MIB;
    const bound = size >= 4096 ? STORE * 1.5 : 100e6 / MIB;
    if (growth > bound) broken = true;
    console.log(
      `${options.objects} URLs of ${size} bytes through ${STORE} MiB: the worker grew by ${growth.toFixed(1)} MiB ` +
        `(bound ${bound.toFixed(1)})${growth > bound ? ' TOO MUCH' : ''}`,
    );
  } finally {
    await server.stop();
    origin.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
process.exit(broken ? 1 : 0);
