// The writers of ring-threads.test.ts, on the compiled code: `.ts` threads do not load on Node 20. As a process of its own
// it begins the ring and starts the threads; as a thread it writes numbered records until it has written enough, or for
// ever. Every thread writes requests and their fetches, of which some records are from both in turns, and ends its turn
// anywhere in them.

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { LogMask } from '../../../dist/modules/daemon/log/log-mask.js';
import { RingPlace } from '../../../dist/modules/daemon/log/ring-place.js';
import { RingWriter } from '../../../dist/modules/daemon/log/ring-writer.js';
import { ThreadLogs } from '../../../dist/modules/daemon/log/thread-logs.js';
import { LogShared, TxLog } from '../../../dist/modules/daemon/log/tx-log.js';
import { makeSlots, Peers, portsOf } from '../../../dist/modules/daemon/threads/peers.js';
import { Tag } from '../../../dist/modules/protocol/tables/tags.js';

/** FNV-1a. */
function checksum(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return h.toString(16);
}

function write(place, common, thread, { requests, pause }) {
  const counters = { shm_records: 0, shm_writes: 0, shm_flushes: 0, shm_cycles: 0 };
  const writer = new RingWriter(place, counters, null, common);
  const shared = new LogShared(writer, new LogMask());
  shared.reclen = 4000;
  const request = new TxLog(shared);
  const fetch = new TxLog(shared);
  let n = 0;
  let state = thread + 1;
  const random = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % below;
  };
  const put = (log, tag, text) => {
    log.put(tag, text);
    if (random(40) === 0) {
      writer.flush();
      if (pause) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  };
  const numbered = (log) => {
    const text = `${thread} ${n++} ${'x'.repeat(random(20) === 0 ? random(3000) : random(120))}`;
    put(log, Tag.VCL_Log, `${text} ${checksum(text)}`);
  };
  for (let i = 0; i < requests; i++) {
    // As the worker gives them out: no id twice among the threads.
    const id = (i * 64 + thread) * 2 + 2;
    request.begin(id, 'c');
    fetch.begin(id + 1, 'b');
    put(request, Tag.Begin, 'req 0 rxreq');
    numbered(request);
    put(request, Tag.Link, `bereq ${id + 1} fetch`);
    put(fetch, Tag.Begin, `bereq ${id} fetch`);
    for (let k = random(20); k >= 0; k--) numbered(k % 2 === 0 ? request : fetch);
    if (i % 3 > 0) request.answering();
    fetch.end();
    numbered(request);
    request.endAnswered(i % 3 === 1);
  }
  writer.close();
  return { counters, numbered: n, waits: common.lock.waits };
}

if (isMainThread) {
  const [path, size, count, requests, pause] = process.argv.slice(2);
  const slots = makeSlots(Number(count) + 1);
  const peers = new Peers(slots[0]);
  const place = RingPlace.begin(path, Number(size), undefined, peers.part('ring'));
  peers.makeLock('ring');
  // As the worker's first thread: what all have in common is made before another one runs.
  new ThreadLogs(peers.part('ring'), peers.thread, peers.count, RingWriter.stagingFor(place));
  const work = { requests: Number(requests), pause: pause === 'pause' };
  const threads = slots.slice(1).map(
    (slot) =>
      new Worker(new URL(import.meta.url), {
        workerData: { slot, offer: peers.memory.offer(), path, work },
        transferList: portsOf(slot),
      }),
  );
  const results = await Promise.all(threads.map((t) => new Promise((done) => t.once('message', done))));
  process.send?.(results);
  process.disconnect?.();
} else {
  const { slot, offer, path, work } = workerData;
  const peers = new Peers(slot, offer);
  const place = RingPlace.join(path, peers.part('ring'));
  const size = RingWriter.stagingFor(place);
  const logs = new ThreadLogs(peers.part('ring'), peers.thread, peers.count, size);
  const common = { lock: peers.makeLock('ring'), logs };
  parentPort.postMessage(write(place, common, slot.thread, work));
}
