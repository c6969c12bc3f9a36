// Whether the manager's side of the log keeps up with 60,000 requests a second and a selective query, or reports
// its losses, and how much memory it takes. A writer of its own fills a ring at that rate with the records of hits, one
// in 10,000 of them with the status that is asked for; the log streams read in another process, as the manager does.
// Usage: node test/bench/log-flood.js [--rate 60000] [--seconds 10] [--query 'RespStatus == 503']
//   [--grouping request] [--size 80] (of the ring, in megabytes)
// Runs dist/. Fails if records are missing that were not reported as lost, or above 200 MB.
import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LogMask } from '../../dist/modules/daemon/log/log-mask.js';
import { RingPlace } from '../../dist/modules/daemon/log/ring-place.js';
import { RingWriter } from '../../dist/modules/daemon/log/ring-writer.js';
import { LogShared, TxLog } from '../../dist/modules/daemon/log/tx-log.js';
import { LogStreams } from '../../dist/modules/daemon/manager/endpoints/streams/log-stream.js';
import { decodeLogFrame } from '../../dist/modules/protocol/log-frame.js';
import { logHit, RARE } from './hit-records.js';

const MAX_MEMORY = 200;
const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '60000' },
    seconds: { type: 'string', default: '10' },
    query: { type: 'string', default: `RespStatus == ${RARE}` },
    grouping: { type: 'string', default: 'request' },
    size: { type: 'string', default: '80' },
    role: { type: 'string', default: 'bench' },
    dir: { type: 'string', default: '' },
  },
});

if (options.role === 'writer') write(options.dir);
else if (options.role === 'reader') read(options.dir);
else await bench();

/** Writes at the rate, in turns of some milliseconds, as the worker does. */
function write(dir) {
  const counters = { shm_records: 0, shm_writes: 0, shm_flushes: 0, shm_cycles: 0 };
  const writer = new RingWriter(RingPlace.begin(join(dir, 'log.ring'), Number(options.size) << 20), counters);
  const log = new TxLog(new LogShared(writer, new LogMask()));
  let vxid = 1;
  let rare = 0;
  let begun = 0;
  const rate = Number(options.rate);
  const total = rate * Number(options.seconds);
  const turn = () => {
    const due = Math.min(total, Math.floor(((performance.now() - begun) / 1000) * rate));
    // At most one turn's worth at once: a late worker does not catch up in one turn either.
    const until = Math.min(due, vxid - 1 + rate / 20);
    for (; vxid <= until; vxid++) if (logHit(log, vxid)) rare++;
    writer.flush();
    if (vxid <= total) {
      setImmediate(() => setTimeout(turn, 1));
      return;
    }
    const seconds = (performance.now() - begun) / 1000;
    process.send({ seconds, records: counters.shm_records, rare, requests: vxid - 1 });
    process.disconnect();
  };
  process.once('message', () => {
    begun = performance.now();
    turn();
  });
  process.send('ready');
}

/** The manager's work for one subscriber, without the WebSocket. */
function read(dir) {
  const streams = new LogStreams(dir);
  let found = 0;
  let lost = 0;
  const sink = {
    send: (frame) => {
      found += decodeLogFrame(frame).transactions.length;
    },
    json: (message) => {
      if (message.t === 'lost') lost += message.records;
    },
    buffered: () => 0,
  };
  const sub = { grouping: options.grouping, from: 'tail', query: options.query };
  const stream = streams.open(1, sub, sink);
  if (stream.error !== undefined) throw new Error(stream.error.detail);
  let cpu = process.cpuUsage();
  process.on('message', (what) => {
    if (what === 'begin') cpu = process.cpuUsage();
    else {
      const { user, system } = process.cpuUsage(cpu);
      process.send({ found, lost, cpu: (user + system) / 1e6, memory: residentMegabytes() });
      if (what === 'end') process.exit(0);
    }
  });
  process.send('ready');
}

/** The most memory this process had, with what it shares. */
function residentMegabytes() {
  const text = readFileSync('/proc/self/status', 'latin1');
  return Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024;
}

async function bench() {
  const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'proxyd-flood-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const here = fileURLToPath(import.meta.url);
  const begin = (role, flags) =>
    fork(here, [...process.argv.slice(2), '--role', role, '--dir', dir], { execArgv: flags });
  const message = (child) =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`ended with ${code}`)));
    });
  const writer = begin('writer', []);
  await message(writer);
  const reader = begin('reader', []);
  await message(reader);
  reader.send('begin');
  writer.send('go');
  const wrote = await message(writer);
  // It may lag: records still read count as long as it makes progress.
  let seen = { found: -1, lost: -1 };
  for (let quiet = 0; quiet < 5; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    reader.send('state');
    const now = await message(reader);
    quiet = now.found === seen.found && now.lost === seen.lost ? quiet + 1 : 0;
    seen = now;
  }
  reader.send('end');
  const rate = Math.round(wrote.requests / wrote.seconds);
  console.log(
    `${rate} requests/s, ${Math.round(wrote.records / wrote.seconds)} records/s for ${wrote.seconds.toFixed(1)} s ` +
      `on ${availableParallelism()} cores`,
  );
  console.log(
    `found ${seen.found} of ${wrote.rare} requests, told of ${seen.lost} lost records ` +
      `(${((100 * seen.lost) / wrote.records).toFixed(1)} %), ${((100 * seen.cpu) / wrote.seconds).toFixed(0)} % CPU, ` +
      `${seen.memory.toFixed(0)} MB at most`,
  );
  const silent = seen.lost === 0 && seen.found !== wrote.rare;
  if (silent) console.log('records are missing that nobody told of');
  if (seen.memory > MAX_MEMORY) console.log(`more than ${MAX_MEMORY} MB`);
  process.exitCode = silent || seen.memory > MAX_MEMORY ? 1 : 0;
}
