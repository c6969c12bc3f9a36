// An instance that is nothing but its protocol: greets consoles on a Unix socket, sends each log subscription its
// share of made-up groups (log-pool.js) at a fixed rate, counters every second, and answers a few commands. What a
// slow reader would have had to buffer is left out and reported as lost, as a daemon does.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { encodeLogFrame, transactionSize } from '../../../dist/modules/protocol/log-frame.js';
import { countRecords } from '../../../dist/modules/protocol/log-record.js';
import { PROTOCOL_VERSION } from '../../../dist/modules/protocol/messages.js';
import { MAIN_COUNTERS } from '../../../dist/modules/protocol/tables/counters.js';
import { LogSelection } from '../../../dist/modules/queries/log-selection.js';

const TICK = 20;
const FRAME_BYTES = 64 << 10;
const MOST_BUFFERED = 4 << 20;

/** Frames of one subscription, made once and sent round and round; each begins with the place of its id. */
function framesFor(sub, pool) {
  const { rate, once, ...rest } = sub;
  const selection = LogSelection.create(rest);
  const groups = sub.grouping === 'vxid' ? pool.flat().map((tx) => [{ ...tx, level: 1, first: true }]) : pool;
  const frames = [];
  let batch = [];
  let bytes = 0;
  let taken = 0;
  const close = () => {
    if (batch.length === 0) return;
    const sent = batch.flat();
    frames.push({
      data: encodeLogFrame(0, sent),
      groups: batch.length,
      records: sent.reduce((n, tx) => n + countRecords(tx.records), 0),
    });
    taken += batch.length;
    batch = [];
    bytes = 0;
  };
  for (const group of groups) {
    const shown = selection.take(group, 0);
    if (shown === null) continue;
    batch.push(shown);
    for (const tx of shown) bytes += transactionSize(tx);
    // A limited reader gets its few at a time.
    if (bytes >= FRAME_BYTES || (rate !== undefined && batch.length >= 8)) close();
  }
  close();
  return { frames, share: taken / pool.length };
}

export function startInstance(path, pool, perSecond) {
  const reported = { groups: 0, lost: 0 };
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  const info = MAIN_COUNTERS.map((row) => ({
    name: `MAIN.${row.name}`,
    flag: row.flag,
    format: row.format,
    level: row.level,
    description: row.description ?? row.help ?? '',
  }));
  server.on('connection', (ws) => {
    const timers = new Map();
    const tell = (message) => ws.send(JSON.stringify(message));
    const log = (id, sub) => {
      tell({ t: 'ok', id });
      if (sub.once === true) return tell({ t: 'end', id });
      const { frames, share } = framesFor(sub, pool);
      if (frames.length === 0) return;
      const rate = Math.min(perSecond * share, sub.rate === undefined ? Infinity : sub.rate.count);
      const main = sub.query === undefined && sub.rate === undefined;
      let next = 0;
      let owed = 0;
      let dropped = 0;
      let before = performance.now();
      const tick = () => {
        const now = performance.now();
        owed = Math.min(owed + ((now - before) * rate) / 1000, rate);
        before = now;
        for (; owed >= frames[next].groups; next = (next + 1) % frames.length) {
          const { data, groups, records } = frames[next];
          owed -= groups;
          if (ws.bufferedAmount > MOST_BUFFERED) {
            dropped += records;
            if (main) reported.lost += groups;
            continue;
          }
          // Sent bytes may still wait for the socket: its own copy of each.
          const copy = Buffer.from(data);
          copy.writeUInt32LE(id, 0);
          ws.send(copy);
          if (main) reported.groups += groups;
        }
        if (dropped > 0 && ws.bufferedAmount < MOST_BUFFERED / 2) {
          tell({ t: 'lost', id, records: dropped, reason: 'backpressure' });
          dropped = 0;
        }
      };
      timers.set(id, setInterval(tick, TICK));
    };
    const stat = (id, { interval }) => {
      tell({ t: 'ok', id });
      tell({ t: 'counters', id, info });
      let n = 0;
      const values = () => {
        n++;
        tell({
          t: 'values',
          id,
          at: Date.now() / 1000,
          values: info.map((_row, i) => String(n * (perSecond - i))),
        });
      };
      values();
      timers.set(id, setInterval(values, Math.max(0.1, interval) * 1000));
    };
    const end = (id) => {
      clearInterval(timers.get(id));
      timers.delete(id);
      tell({ t: 'end', id });
    };
    ws.on('message', (data) => {
      const m = JSON.parse(String(data));
      if (m.t === 'hello') tell({ t: 'welcome', state: 'running' });
      else if (m.t === 'log') log(m.id, m.log);
      else if (m.t === 'stat') stat(m.id, m.stat);
      else if (m.t === 'end') end(m.id);
      else if (m.t === 'cmd') {
        const body = JSON.stringify([m.line.startsWith('backend.list') ? 3 : 2, m.line.split(' '), 0]);
        tell({ t: 'reply', id: m.id, status: 200, body });
      }
    });
    ws.on('error', () => ws.terminate());
    ws.on('close', () => {
      for (const timer of timers.values()) clearInterval(timer);
    });
    tell({ t: 'hello', v: PROTOCOL_VERSION, server: 'bench', version: '0', identity: 'bench', auth: 'none' });
  });
  http.listen(path);
  return {
    reported,
    close: () => {
      for (const ws of server.clients) ws.terminate();
      http.close();
    },
  };
}
