// PROXY preambles and Unix sockets: the same bytes to both products' listeners. What the client sees, what the log
// says of the session and its request, and the counters must be the same.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytes, IPV4, IPV6, SIGNATURE, TLS, tlv, v1, v2, v2WithChecksum } from '../daemon/net/proxy-bytes.ts';
import { freePort } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { exchange, type Place } from '../harness/raw-exchange.ts';
import { countersAtRest } from './at-rest.ts';
import { type Answers, type Reference, recording } from './recording.ts';

const answers = recording('sockets');
const counted = recording('socket-counters');
const PROGRAM = readFileSync(new URL('sockets.vcl', import.meta.url), 'utf8');

const GET = Buffer.from('GET /peer HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
const TCP4 = 'PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222';
const join = (...parts: Uint8Array[]): Buffer => Buffer.concat(parts);
const ipv4 = (...attributes: Uint8Array[]): Buffer => v2(0x21, 0x11, join(IPV4, ...attributes));

/** Bytes before a request; truncated ones are sent alone, and the client closes its side. */
const PREAMBLES: [name: string, preamble: Buffer, cut?: 'cut'][] = [
  ['v1 IPv4', v1(TCP4)],
  ['v1 IPv6', v1('PROXY TCP6 2001:db8::1 2001:db8::2 1111 2222')],
  ['v1 unknown', v1('PROXY UNKNOWN')],
  ['v1 unknown with fields', v1('PROXY UNKNOWN a b c d')],
  ['v1 lower case', v1('proxy TCP4 1.2.3.4 5.6.7.8 1111 2222')],
  ['v1 wrong address', v1('PROXY TCP4 1.2.3.400 5.6.7.8 1111 2222')],
  ['v1 wrong destination', v1('PROXY TCP4 1.2.3.4 5.6.7.888 1111 2222')],
  ['v1 another family', v1('PROXY TCP4 ::1 5.6.7.8 1111 2222')],
  ['v1 no such family', v1('PROXY TCP5 1.2.3.4 5.6.7.8 1111 2222')],
  ['v1 negative port', v1('PROXY TCP4 1.2.3.4 5.6.7.8 -1 2222')],
  ['v1 too many fields', v1(`${TCP4} 3`)],
  ['v1 too few fields', v1('PROXY TCP4 1.2.3.4 5.6.7.8')],
  ['v1 blank at the end', v1(`${TCP4} `)],
  ['v1 LF alone', Buffer.from(`${TCP4}\n`)],
  ['v1 CR alone', Buffer.from('PROXY TCP4 1.2.3.4\r 5.6.7.8 1 2\r\n')],
  ['v1 longest line', v1(`PROXY UNKNOWN ${'a'.repeat(92)}`)],
  ['v1 too long a line', v1(`PROXY UNKNOWN ${'a'.repeat(93)}`)],
  ['v1 no end', Buffer.from(`PROXY UNKNOWN ${'a'.repeat(1010)}`)],
  ['v1 twice', join(v1(TCP4), v1(TCP4))],
  ['v1 cut', Buffer.from('PROXY TCP4 1.2'), 'cut'],
  ['v1 alone', v1(TCP4), 'cut'],
  ['nothing', bytes(), 'cut'],
  ['no preamble', bytes()],
  ['TLS by mistake', Buffer.from('\x16\x03\x01\x02\0\x01', 'latin1')],
  ['v2 IPv4', ipv4()],
  ['v2 IPv6', v2(0x21, 0x21, IPV6)],
  [
    'v2 mapped IPv4',
    v2(0x21, 0x21, Buffer.from(`${'00000000000000000000ffff01020304'.repeat(2)}00010002`, 'hex')),
  ],
  ['v2 UDP', v2(0x21, 0x12, IPV4)],
  ['v2 Unix', v2(0x21, 0x31, Buffer.alloc(216))],
  ['v2 unspecified', v2(0x21, 0, bytes(1, 2, 3))],
  ['v2 local', v2(0x20, 0)],
  ['v2 local with addresses', v2(0x20, 0x11, IPV4)],
  ['v2 bad command', v2(0x22, 0x11, IPV4)],
  ['v2 bad version', v2(0x11, 0x11, IPV4)],
  ['v2 unknown family', v2(0x21, 0x41, IPV4)],
  ['v2 short IPv4', v2(0x21, 0x11, IPV4.subarray(1))],
  ['v2 short IPv6', v2(0x21, 0x21, IPV6.subarray(1))],
  ['v2 ALPN and authority', ipv4(tlv(1, 'h2'), tlv(2, 'www.example.com'))],
  ['v2 two alike', ipv4(tlv(1, 'h2'), tlv(1, 'h3'))],
  ['v2 NUL in a text', ipv4(tlv(1, 'a\0b'))],
  ['v2 TLS', ipv4(TLS)],
  ['v2 TLS, checksum, IPv6', v2WithChecksum(0x21, join(IPV6, tlv(1, 'h2'), TLS))],
  ['v2 TLS flags', ipv4(tlv(0x20, bytes(4, 255, 255, 255, 255)))],
  ['v2 inner attribute outside', ipv4(tlv(0x21, 'TLSv9'))],
  ['v2 wrong checksum', v2WithChecksum(0x11, IPV4, 1)],
  ['v2 short checksum', ipv4(tlv(3, 'abc'))],
  ['v2 wrong checksum of local', v2(0x20, 0x11, join(IPV4, tlv(3, 'abcd')))],
  ['v2 TLS too short', ipv4(tlv(0x20, 'abcd'))],
  ['v2 TLS broken inside', ipv4(tlv(0x20, join(bytes(1, 0, 0, 0, 0, 0x21, 0, 9, 65))))],
  ['v2 dribble', ipv4(bytes(1, 0))],
  ['v2 attribute too long', ipv4(bytes(1, 0, 9, 65))],
  ['v2 as large as workspace_session allows', ipv4(tlv(5, 'x'.repeat(381)))],
  ['v2 a little larger', ipv4(tlv(5, 'x'.repeat(382)))],
  ['v2 larger', ipv4(tlv(5, 'x'.repeat(500)))],
  ['v2 as large as can be read', v2(0x20, 0, Buffer.alloc(1008))],
  ['v2 larger than can be read', v2(0x20, 0, Buffer.alloc(1009))],
  ['v2 broken signature', join(SIGNATURE.subarray(0, 11), bytes(88), IPV4)],
  ['v2 cut', ipv4().subarray(0, 20), 'cut'],
];

const KEPT = /^(SessOpen|Proxy|ProxyGarbage|Error|Link|SessClose|ReqStart|ReqHeader|VCL_Error|BogoHeader)$/;

/** Sessions of the log in their order; ids, ports, times and descriptors are left out. */
function sessions(raw: string, ports: readonly number[]): string[][] {
  const all = new Map<string, string[]>();
  const owner = new Map<string, string>();
  for (const line of raw.split('\n')) {
    const m = /^\s*(\d+) (\S+)\s+\S ?(.*)$/.exec(line);
    if (m === null) continue;
    const [, id = '', tag = '', data = ''] = m;
    if (tag === 'Begin' && data.startsWith('sess')) all.set(id, [`Begin ${data}`]);
    if (tag === 'Link' && all.has(id)) owner.set(data.split(' ')[1] as string, id);
    const records = all.get(owner.get(id) ?? id);
    if (records === undefined || !KEPT.test(tag)) continue;
    let text = data
      .replace(/^(req) \d+/, '$1 ID')
      .replace(/ \d+\.\d+ \d+$/, ' TIME FD')
      .replace(/^(\w+) \d+\.\d+$/, '$1 TIME')
      .replace(/^127\.0\.0\.1 \d+/, '127.0.0.1 PORT');
    ports.forEach((port, i) => {
      text = text.replaceAll(String(port), `P${i}`);
    });
    records.push(`${tag} ${text}`);
  }
  return [...all.values()];
}

type Seen = { response: string; log: string[] };
type Counters = Record<string, number>;
/** Name of the counters among the answers. */
const COUNTERS = 'ends of sessions';

const PLACES = ['tcp', 'tcp PROXY', 'unix', 'unix PROXY'] as const;

async function play(
  box: Sandbox,
  product: Product,
): Promise<{ seen: Map<string, Seen>; counters: Counters }> {
  const port = await freePort();
  const dir = box.path(product);
  const path = `${dir}.sock`;
  const proxy = await startProxy(box, {
    product,
    dir,
    program: PROGRAM,
    args: [
      '-a',
      `pp=127.0.0.1:${port},PROXY`,
      '-a',
      `un=${path},mode=777`,
      '-a',
      `up=${path}2,PROXY,mode=777`,
    ],
  });
  try {
    const places: Record<(typeof PLACES)[number], Place> = {
      tcp: { port: proxy.port },
      'tcp PROXY': { port },
      unix: { path },
      'unix PROXY': { path: `${path}2` },
    };
    const seen = new Map<string, Seen>();
    const note = async (name: string, place: Place, sent: Buffer, cut: boolean): Promise<void> => {
      const output = await exchange(place, sent, cut);
      const response = output
        .replace(/^(Date|Server|X-Varnish|X-Proxy-Id): .*\r\n/gm, '')
        .replaceAll(`${path}`, 'PATH')
        .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
        .replace(/127\.0\.0\.1 \d+/g, '127.0.0.1 PORT');
      seen.set(name, { response, log: [] });
    };
    for (const [name, preamble, cut] of PREAMBLES) {
      await note(name, places['tcp PROXY'], cut ? preamble : join(preamble, GET), cut === 'cut');
    }
    for (const place of PLACES) {
      await note(`a request to ${place}`, places[place], GET, false);
      await note(`a preamble to ${place}`, places[place], join(v1(TCP4), GET), false);
      await note(`a local preamble to ${place}`, places[place], join(v2(0x20, 0), GET), false);
    }
    const names = [...seen.keys()];
    const found = await until('the ends of all sessions', async () => {
      const all = sessions(await proxy.log('-g', 'raw'), [port, proxy.port]).filter(
        (records) => !records.some((r) => r.startsWith('SessOpen') && !/ (a0|pp|un|up) /.test(r)),
      );
      const ended = all.filter((records) => records.some((r) => r.startsWith('SessClose')));
      return all.length >= names.length && ended.length === all.length && all;
    });
    // The first sessions are those that waited for the daemon.
    found.slice(-names.length).forEach((records, i) => {
      (seen.get(names[i] as string) as Seen).log = records.map((r) => r.replaceAll(path, 'PATH'));
    });
    return { seen, counters: await closeCounters(proxy, found.length - names.length) };
  } finally {
    await proxy.stop();
  }
}

/** @param others sessions that waited for the daemon, more of them if its start took longer */
async function closeCounters(proxy: RunningProxy, others: number): Promise<Record<string, number>> {
  const all = await countersAtRest(proxy);
  for (const name of ['MAIN.sess_conn', 'MAIN.sess_closed']) all[name] = (all[name] ?? 0) - others;
  const wanted = Object.entries(all).filter(
    ([name, value]) => /^MAIN\.(sc_|sess_closed|sess_conn|sess_fail)/.test(name) && value > 0,
  );
  return Object.fromEntries(wanted.sort(([a], [b]) => a.localeCompare(b)));
}

describe('sockets beside Varnish’s daemon', () => {
  const box = new Sandbox('proxyd-sockets');
  let reference: Reference<Seen>;
  let ours: Answers<Seen>;
  let counters: [Reference<Counters>, Answers<Counters>];

  beforeAll(async () => {
    const inputs = new Map(
      names.map((name) => [name, `${PROGRAM}\n${sent.get(name)?.toString('latin1') ?? name}`]),
    );
    const played = new Map<Product, Counters>();
    [reference, ours] = await answers.both(inputs, async (product) => {
      const { seen, counters } = await play(box, product);
      played.set(product, counters);
      return seen;
    });
    const all = new Map([[COUNTERS, [...inputs.values()].join('\n')]]);
    counters = await counted.both(
      all,
      async (product) => new Map([[COUNTERS, played.get(product) as Counters]]),
    );
  });
  afterAll(() => box.dispose());

  const names = [
    ...PREAMBLES.map(([name]) => name),
    ...PLACES.flatMap((p) => [`a request to ${p}`, `a preamble to ${p}`, `a local preamble to ${p}`]),
  ];

  const sent = new Map(PREAMBLES.map(([name, bytes]) => [name, bytes]));

  it.each(names)('%s', (name) => {
    const wanted = reference.get(name);
    expect(wanted.log.length).toBeGreaterThan(1);
    const seen = ours.get(name) as Seen;
    // A refusal says that the connection ends with it; Varnish just closes.
    const refused = / 400 /.test(wanted.response);
    expect(refused ? seen.response.split('\r\n')[0] : seen.response).toBe(
      refused ? wanted.response.split('\r\n')[0] : wanted.response,
    );
    // Ours says why, in words.
    const ignored = (r: string): boolean =>
      /^Error (connection|request) refused: /.test(r) || (refused && r.startsWith('BogoHeader'));
    expect(seen.log.filter((r) => !ignored(r))).toEqual(wanted.log.filter((r) => !ignored(r)));
  });

  it('counts the ends of sessions alike', () => {
    const [theirs, own] = counters;
    expect(own.get(COUNTERS)).toEqual(theirs.get(COUNTERS));
  });
});
