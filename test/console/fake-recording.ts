// A made-up session with a daemon: two minutes of believable counters and log, the same in every run.

import {
  encodeTransaction,
  type RecordedStep,
  type Recording,
} from '../../console/model/session/recording.ts';
import { encodeRecord } from '../../protocol/log-record.ts';
import type { CounterInfo, LogTransaction } from '../../protocol/messages.ts';
import {
  EDGE_COUNTERS,
  MAIN_COUNTERS,
  MGT_COUNTERS,
  SMA_COUNTERS,
  THR_COUNTERS,
  VBE_COUNTERS,
  WRK_COUNTERS,
} from '../../protocol/tables/counters.ts';
import { Tag, type TagName } from '../../protocol/tables/tags.ts';

export const FAKE_START = 1_795_220_600;

function infos(threads: number): CounterInfo[] {
  const rows = (prefix: string, table: readonly { name: string }[]): CounterInfo[] =>
    table.map((row) => {
      const r = row as unknown as CounterInfo & { help?: string };
      return {
        name: prefix + r.name,
        flag: r.flag,
        format: r.format,
        level: r.level,
        description: r.description ?? r.help ?? '',
      };
    });
  return [
    ...rows('MGT.', MGT_COUNTERS),
    ...rows('MAIN.', MAIN_COUNTERS),
    ...rows('SMA.s0.', SMA_COUNTERS),
    ...rows('SMA.Transient.', SMA_COUNTERS),
    ...rows('VBE.boot.shop.', VBE_COUNTERS),
    ...rows('VBE.boot.images.', VBE_COUNTERS),
    ...rows('EDGE.', EDGE_COUNTERS),
    ...Array.from({ length: threads }, (_, i) => rows(`THR.${i}.`, THR_COUNTERS)).flat(),
    ...rows('WRK.', WRK_COUNTERS),
  ];
}

export function record(side: 'c' | 'b', vxid: number, tag: TagName, text: string): Uint8Array {
  return encodeRecord(Tag[tag], vxid, side, text);
}

export interface FakeRequest {
  vxid: number;
  at: number;
  method: string;
  url: string;
  status: number;
  handling: 'HIT' | 'MISS' | 'PASS' | 'SYNTH';
  seconds: number;
  body: number;
  fetchError?: string;
}

/** One request group: the client's transaction and, unless it was a hit, the backend's. */
export function fakeGroup(r: FakeRequest): LogTransaction[] {
  const c = (tag: TagName, text: string): Uint8Array => record('c', r.vxid, tag, text);
  const t = (s: number): string => (r.at + s).toFixed(6);
  const fetched = r.handling === 'MISS' || r.handling === 'PASS';
  const client = [
    c('Begin', `req ${r.vxid - 1} rxreq`),
    c('Timestamp', `Start: ${t(0)} 0.000000 0.000000`),
    c('Timestamp', `Req: ${t(0)} 0.000000 0.000000`),
    c('ReqStart', '127.0.0.1 51876 a0'),
    c('ReqMethod', r.method),
    c('ReqURL', r.url),
    c('ReqProtocol', 'HTTP/1.1'),
    c('ReqHeader', 'Host: shop.example'),
    c('ReqHeader', 'User-Agent: demo'),
    c('VCL_call', 'RECV'),
    c('VCL_return', 'hash'),
    c('VCL_call', 'HASH'),
    c('VCL_return', 'lookup'),
    ...(r.handling === 'HIT' ? [c('Hit', `${r.vxid - 40} 118.204 10.000 0.000`)] : []),
    c('VCL_call', r.handling),
    c('VCL_return', r.handling === 'HIT' ? 'deliver' : 'fetch'),
    ...(fetched ? [c('Link', `bereq ${r.vxid + 1} fetch`)] : []),
    c('RespProtocol', 'HTTP/1.1'),
    c('RespStatus', String(r.status)),
    c('RespReason', r.status === 200 ? 'OK' : r.status === 404 ? 'Not Found' : 'Backend fetch failed'),
    c('RespHeader', `X-Proxy-Id: ${r.vxid}`),
    c('VCL_call', 'DELIVER'),
    c('VCL_return', 'deliver'),
    c(
      'Timestamp',
      `Process: ${t(r.seconds * 0.9)} ${(r.seconds * 0.9).toFixed(6)} ${(r.seconds * 0.9).toFixed(6)}`,
    ),
    c('Timestamp', `Resp: ${t(r.seconds)} ${r.seconds.toFixed(6)} ${(r.seconds * 0.1).toFixed(6)}`),
    c('ReqAcct', `87 0 87 243 ${r.body} ${r.body + 243}`),
    c('End', ''),
  ];
  const out: LogTransaction[] = [
    {
      level: 1,
      type: 'request',
      reason: 'rxreq',
      vxid: r.vxid,
      parent: r.vxid - 1,
      records: Buffer.concat(client),
    },
  ];
  if (!fetched) return out;
  const id = r.vxid + 1;
  const b = (tag: TagName, text: string): Uint8Array => record('b', id, tag, text);
  const backend = [
    b('Begin', `bereq ${r.vxid} fetch`),
    b('BereqMethod', 'GET'),
    b('BereqURL', r.url),
    b('VCL_call', 'BACKEND_FETCH'),
    b('VCL_return', 'fetch'),
    ...(r.fetchError === undefined
      ? [b('BerespStatus', String(r.status)), b('BerespReason', 'OK'), b('Length', String(r.body))]
      : [b('FetchError', r.fetchError), b('VCL_call', 'BACKEND_ERROR')]),
    b('End', ''),
  ];
  out.push({
    level: 2,
    type: 'bereq',
    reason: 'fetch',
    vxid: id,
    parent: r.vxid,
    records: Buffer.concat(backend),
  });
  return out;
}

const URLS = [
  '/',
  '/products/42?ref=home',
  '/img/hero.jpg',
  '/static/app.css',
  '/cart',
  '/api/stock/17',
  '/missing',
  '/articles/how-caches-work',
];

export function fakeRecording(seconds = 120, threads = 1): Recording {
  const info = infos(threads);
  const index = new Map(info.map((row, i) => [row.name, i]));
  const values = info.map(() => 0n);
  const steps: RecordedStep[] = [
    { after: 0, kind: 'up', identity: 'demo', version: '0.1' },
    { after: 0, kind: 'counters', info },
  ];
  const set = (name: string, value: number | bigint): void => {
    const i = index.get(name);
    if (i !== undefined) values[i] = BigInt(value);
  };
  const add = (name: string, by: number): void => {
    const i = index.get(name);
    if (i !== undefined) values[i] = (values[i] as bigint) + BigInt(Math.round(by));
  };
  set('SMA.s0.g_space', 100 << 20);
  let vxid = 1000;
  for (let s = 0; s <= seconds; s++) {
    const load = 180 + 120 * Math.sin(s / 11) + ((s * 37) % 23);
    const hit = load * (0.72 + 0.2 * Math.min(1, s / 60) + 0.03 * Math.sin(s / 5));
    const pass = load * 0.05;
    const synth = load * 0.01;
    add('MAIN.client_req', load);
    add('MAIN.cache_hit', hit);
    add('MAIN.cache_miss', Math.max(0, load - hit - pass - synth));
    add('MAIN.s_pass', pass);
    add('MAIN.s_synth', synth);
    add('MAIN.s_fetch', load - hit - synth);
    add('MAIN.sess_conn', load / 9);
    add('MAIN.s_resp_bodybytes', load * 8200);
    add('MAIN.s_resp_bodybytes_hit', hit * 6900);
    add('MAIN.s_resp_hdrbytes', load * 240);
    set('MGT.uptime', 7200 + s);
    set('MGT.child_start', 1);
    set('MGT.worker_since', 7199 + s);
    set('MGT.cpu', 8 + (s % 3));
    set('MGT.rss_bytes', (61 << 20) + s * 512);
    set('WRK.cpu', 120 + (s % 7) * 11);
    set('WRK.rss_bytes', (88 << 20) + s * 4096);
    set('WRK.loop_lag_us', 380 + (s % 9) * 40);
    set('MAIN.uptime', 7199 + s);
    set('MAIN.n_object', 900 + s * 3);
    set('MAIN.n_expired', s * 2);
    set('MAIN.bans', 1);
    set('SMA.s0.g_bytes', (9 << 20) + s * 40_000);
    set('SMA.s0.g_space', (91 << 20) - s * 40_000);
    set('SMA.Transient.g_bytes', 18_000 + (s % 5) * 700);
    add('VBE.boot.shop.req', load - hit - synth - 3);
    add('VBE.boot.images.req', 3);
    set('VBE.boot.shop.happy', 0xffffffffffffn);
    set('VBE.boot.images.happy', s > 60 ? 0xffffff0fn : 0xffffffffn);
    for (let i = 0; i < threads; i++) {
      add(`THR.${i}.requests`, (load * (i + 1)) / ((threads * (threads + 1)) / 2));
      set(`THR.${i}.connections_open`, 12 + i);
      set(`THR.${i}.loop_lag_us`, 400 * (i + 1) ** 4);
    }
    steps.push({ after: s, kind: 'values', changed: values.map((v, i): [number, string] => [i, String(v)]) });
    const transactions = Array.from({ length: 3 }, (_, k) => {
      const n = s * 3 + k;
      const url = URLS[n % URLS.length] as string;
      const fail = n % 31 === 7;
      const handling = fail ? 'MISS' : url === '/cart' ? 'PASS' : n % 6 === 1 ? 'MISS' : 'HIT';
      const request: FakeRequest = {
        vxid,
        at: FAKE_START + s + k * 0.21,
        method: 'GET',
        url: fail ? '/api/stock/17' : url,
        status: fail ? 503 : url === '/missing' ? 404 : 200,
        handling,
        seconds: handling === 'HIT' ? 0.00008 : fail ? 3.5 : 0.034,
        body: url === '/missing' ? 190 : 4200 + n,
        ...(fail ? { fetchError: 'first byte timeout' } : {}),
      };
      vxid += 3;
      return fakeGroup(request);
    }).flat();
    steps.push({ after: s, kind: 'log', transactions: transactions.map(encodeTransaction) });
  }
  return {
    format: 'proxyd-console-recording/1',
    start: FAKE_START,
    steps,
    commands: {
      'backend.list -j': {
        status: 200,
        body: JSON.stringify([
          3,
          ['backend.list', '-j'],
          FAKE_START,
          {
            'boot.shop': {
              type: 'backend',
              admin_health: 'probe',
              probe_message: [8, 8, 'healthy'],
              last_change: FAKE_START,
            },
            'boot.images': {
              type: 'backend',
              admin_health: 'probe',
              probe_message: [4, 8, 'sick'],
              last_change: FAKE_START,
            },
          },
        ]),
      },
      'event.list -j': { status: 200, body: JSON.stringify([2, ['event.list', '-j'], FAKE_START]) },
      'vcl.list': { status: 200, body: 'active   auto/warm          0 boot\n' },
      'param.show default_ttl': {
        status: 200,
        body: 'default_ttl\n        Value is: 120.000 [seconds] (default)\n        Minimum is: 0.000\n\n        The TTL assigned to objects if neither the backend nor the program assigns one.\n',
      },
      ping: { status: 200, body: 'PONG 1795220600 1.0' },
    },
  };
}
