// Attaches to a Varnish what the console attaches, plays traffic, and holds what the console's views draw from beside what
// varnishstat and varnishncsa say of the same time. Traffic begins and ends in quiet, so that both speak of the same requests
// and must agree to the last one; a latency of the console is the top of its bucket. A second console attaches afterwards, and has
// to find the same in the log.
import { mkdirSync } from 'node:fs';
import type { DaemonSession } from '../../../console/model/session/daemon-session.ts';
import { PER_DECADE } from '../../../console/model/traffic/latency-meter.ts';
import type { Rank } from '../../../console/model/traffic/rankings.ts';
import { DEFAULT_CONFIG } from '../../../console/model/ui/config.ts';
import { liveInstances } from '../../../console/process/open-instances.ts';
import { delay, Sandbox, until } from '../processes.ts';
import { startProxy } from '../proxy.ts';
import { mixedOrigin, mixedProgram, playMixed } from './mixed-traffic.ts';
import {
  type NcsaLine,
  ncsaFetches,
  ncsaLines,
  restartedLookups,
  statCounters,
  waits,
} from './varnish-figures.ts';

export interface Agreement {
  facts: string[];
  differences: string[];
}

/** Counters that change without traffic. */
const RESTLESS =
  /uptime|shm_|locks|threads|ws_|bans_lurker|happy|summs|\.fail|backend_conn|backend_idle|^MEMPOOL/;
const TOP = 10;

export async function agreement({ seconds = 60, rate = 120 } = {}): Promise<Agreement> {
  const box = new Sandbox('varnish-agreement');
  const origin = await mixedOrigin();
  const sessions: DaemonSession[] = [];
  try {
    const dir = box.path('v');
    mkdirSync(dir, { recursive: true });
    const varnish = await startProxy(box, {
      product: 'varnish',
      dir,
      program: mixedProgram(origin),
      // 0: workers add up what they counted after each request, not now and then.
      params: { vsl_space: '200m', thread_stats_rate: '0' },
    });
    const seen = await attach(dir, sessions);
    await playMixed(varnish.port, 1, rate);
    await settled(dir, seen);
    const before = { counters: await statCounters(dir), lines: await ncsaLines(dir) };
    const restartsBefore = await restartedLookups(dir);
    const waitsBefore = await waits(dir);
    const fetchesBefore = (await ncsaFetches(dir)).length;
    seen.traffic.clear();
    seen.traffic.sample.clearLatency(seen.now());
    const rowsBefore = seen.log.kept.size;
    const samplesBefore = seen.counters.samples;
    const began = performance.now();
    const played = await playMixed(varnish.port, seconds, rate);
    const took = (performance.now() - began) / 1000;
    await settled(dir, seen);
    const counters = await statCounters(dir);
    const all = await ncsaLines(dir);
    const fetches = (await ncsaFetches(dir)).slice(fetchesBefore);
    const restarts = await restartedLookups(dir);
    const waited = (await waits(dir)) - waitsBefore;
    const lines = all.slice(before.lines.length);
    const book = new Book(lines);
    book.same(
      'requests, good or not, by the counters',
      seen.traffic.sample.requests,
      grown(before.counters, counters, 'MAIN.client_req') +
        grown(before.counters, counters, 'MAIN.client_req_400') -
        (countsAgain(seen.version) ? waited : 0),
    );
    book.fact(`${played} requests in ${took.toFixed(1)} s`);
    compareCounters(book, seen, before.counters, counters, samplesBefore);
    compareLookups(book, seen, {
      hits: grown(before.counters, counters, 'MAIN.cache_hit') - (restarts.hit - restartsBefore.hit),
      misses: grown(before.counters, counters, 'MAIN.cache_miss') - (restarts.miss - restartsBefore.miss),
      passes: grown(before.counters, counters, 'MAIN.s_pass') - (restarts.pass - restartsBefore.pass),
    });
    compareSample(book, seen, fetches);
    compareRows(book, seen, rowsBefore);

    const later = await attach(dir, sessions);
    await stands(() => later.traffic.sample.requests);
    const past = new Book(all, 'attached afterwards: ');
    compareSample(past, later, await ncsaFetches(dir));
    compareRows(past, later, 0);
    await varnish.stop();
    return { facts: [...book.facts, ...past.facts], differences: [...book.differences, ...past.differences] };
  } finally {
    for (const session of sessions) session.close();
    await origin.close();
    await box.dispose();
  }
}

/** The attachments of `proxyadm --varnish`. */
async function attach(dir: string, sessions: DaemonSession[]): Promise<DaemonSession> {
  const session = liveInstances({ varnish: dir }, DEFAULT_CONFIG).current;
  sessions.push(session);
  session.start();
  session.log.follow('', 'request');
  await until('the console is furnished', () => session.isFurnished, 30_000);
  return session;
}

/** Waits until all is answered, logged, counted, and has come. */
async function settled(dir: string, session: DaemonSession): Promise<void> {
  let last = '';
  await until(
    'quiet',
    async () => {
      const requests = (await ncsaLines(dir)).filter((line) => !line.fragment).length;
      const counters = await statCounters(dir);
      const now = `${requests} ${counters['MAIN.client_req']} ${counters['MAIN.s_resp_bodybytes']}`;
      const same = now === last;
      last = now;
      await delay(1200);
      return (
        same && Number(session.counters.value('MAIN.s_resp_bodybytes')) === counters['MAIN.s_resp_bodybytes']
      );
    },
    60_000,
  );
}

/** Waits until a figure grows no more. */
async function stands(figure: () => number): Promise<void> {
  let last = Number.NaN;
  await until('a figure that stands', async () => {
    const same = figure() === last && last > 0;
    last = figure();
    await delay(1000);
    return same;
  });
}

function grown(before: Record<string, number>, after: Record<string, number>, name: string): number {
  return (after[name] ?? 0) - (before[name] ?? 0);
}

/** Figures side by side. */
class Book {
  readonly facts: string[] = [];
  readonly differences: string[] = [];
  readonly requests: readonly NcsaLine[];
  readonly fragments: readonly NcsaLine[];
  private readonly when: string;

  constructor(lines: readonly NcsaLine[], when = '') {
    this.requests = lines.filter((line) => !line.fragment);
    this.fragments = lines.filter((line) => line.fragment);
    this.when = when;
  }

  fact(text: string): void {
    this.facts.push(this.when + text);
  }

  same(what: string, ours: unknown, theirs: unknown): void {
    const [a, b] = [JSON.stringify(ours), JSON.stringify(theirs)];
    if (a === b) this.fact(`${what}: ${a}`);
    else this.differences.push(`${this.when}${what}: console ${a}, Varnish's tools ${b}`);
  }

  between(what: string, ours: number | null, from: number, to: number): void {
    if (ours !== null && ours >= from && ours <= to) this.fact(`${what}: ${ours} (${from} to ${to})`);
    else this.differences.push(`${this.when}${what}: console ${ours}, Varnish's tools ${from} to ${to}`);
  }
}

/** The figures of Stats and of the charts. */
function compareCounters(
  book: Book,
  session: DaemonSession,
  before: Record<string, number>,
  after: Record<string, number>,
  samplesBefore: number,
): void {
  const names = Object.keys(after).filter((name) => !RESTLESS.test(name));
  const ours = names.map((name) => Number(session.counters.get(name)?.current ?? Number.NaN));
  const differ = names.filter((name, i) => ours[i] !== after[name]);
  book.same(`counters that differ, of ${names.length}`, differ, []);
  let requests = 0;
  const samples = session.counters.samples - samplesBefore;
  for (let i = session.requests.length - samples; i < session.requests.length; i++) {
    const seconds = (session.requests.timeAt(i) as number) - (session.requests.timeAt(i - 1) as number);
    requests += (session.requests.get(i) as number) * seconds;
  }
  const again = countsAgain(session.version) ? grown(before, after, 'MAIN.busy_wakeup') : 0;
  const came = grown(before, after, 'MAIN.client_req') - again;
  book.same('requests under the chart', Math.round(requests), came);
  const hits = grown(before, after, 'MAIN.cache_hit');
  const rate = hits / (hits + grown(before, after, 'MAIN.cache_miss'));
  book.same('hit rate', session.hitRate.window(samples).rate?.toFixed(6), rate.toFixed(6));
  book.same(
    'bytes to clients, by the counters',
    // Bytes of a pipe are counted late.
    book.requests.reduce((total, line) => total + (line.handling === 'pipe' ? 0 : line.sent), 0),
    grown(before, after, 'MAIN.s_resp_hdrbytes') + grown(before, after, 'MAIN.s_resp_bodybytes'),
  );
}

/** Does the counter of requests have one again for each time that it waited? */
const countsAgain = (version: string): boolean => /^varnish-(6|7\.[0-2]\.)/.test(version);

const sum = (ranks: readonly Rank[], of: 'requests' | 'hits' | 'misses' | 'passes' | 'bytes'): number =>
  ranks.reduce((total, rank) => total + rank[of], 0);

/** Hits, misses and passes of Top beside the counters, which count fragments, too. */
function compareLookups(
  book: Book,
  session: DaemonSession,
  counted: Record<'hits' | 'misses' | 'passes', number>,
): void {
  for (const of of ['hits', 'misses', 'passes'] as const) {
    const ours = sum(session.traffic.sample.all('url'), of) + sum(session.traffic.sample.all('fragment'), of);
    book.same(`${of} with fragments, by the counters`, ours, counted[of]);
  }
}

/** Top, Latency and the panels that show statuses and misses. */
function compareSample(book: Book, session: DaemonSession, fetches: readonly number[]): void {
  const { sample } = session.traffic;
  const { requests, fragments } = book;
  book.same('requests', sample.requests, requests.length);
  book.same('share of the sample', Number(session.traffic.share().toFixed(2)), 1);
  book.same('fragments', sum(sample.all('fragment'), 'requests'), fragments.length);
  book.same(
    'statuses',
    counts(sample.all('status').map((r) => [r.key, r.requests])),
    tally(requests, (l) => String(l.status), '0'),
  );
  book.same(
    'methods',
    counts(sample.all('method').map((r) => [r.key, r.requests])),
    tally(requests, (l) => l.method, '-'),
  );
  book.same(
    'clients',
    counts(sample.all('client').map((r) => [r.key, r.requests])),
    tally(requests, (l) => l.client, '-'),
  );
  const urls = sample.all('url');
  // Later releases say of which kind a miss or a pass is.
  const isMiss = ({ handling }: NcsaLine): boolean => /miss$/.test(handling);
  const handled = (of: RegExp): number => requests.filter(({ handling }) => of.test(handling)).length;
  book.same('hits', sum(urls, 'hits'), handled(/^hit$/));
  book.same('misses', sum(urls, 'misses'), handled(/miss$/));
  book.same('passes', sum(urls, 'passes'), handled(/pass$/));
  book.same(
    'body bytes',
    sum(urls, 'bytes'),
    requests.reduce((total, line) => total + line.body, 0),
  );
  book.same(
    'URLs by requests',
    top(urls, 'requests'),
    topOf(requests, () => 1),
  );
  book.same(
    'URLs by bytes',
    top(urls, 'bytes'),
    topOf(requests, (line) => line.body),
  );
  book.same(
    'URLs by misses',
    top(urls, 'misses'),
    topOf(requests, (line) => Number(isMiss(line))),
  );
  book.same(
    'URLs by errors',
    top(urls, 'errors'),
    topOf(requests, (line) => Number(line.status >= 500)),
  );
  book.same('fetches', sum(sample.all('backend'), 'requests'), fetches.length);
  for (const quantity of ['all', 'hits', 'others'] as const) {
    const times = requests
      .filter(
        (line) =>
          line.firstByte >= 0 && (quantity === 'all' || (line.handling === 'hit') === (quantity === 'hits')),
      )
      .map((line) => line.firstByte)
      .sort((a, b) => a - b);
    for (const share of [0.5, 0.9, 0.99]) {
      const exact = times[Math.ceil(times.length * share) - 1] as number;
      // 1e-9: a time that lies on the edge of a bucket.
      book.between(
        `p${share * 100} ${quantity}`,
        sample.latency.percentile(share, quantity),
        exact - 1e-9,
        exact * 10 ** (1 / PER_DECADE) + 1e-6,
      );
    }
  }
}

/** Each row of the log, and the last errors. */
function compareRows(book: Book, session: DaemonSession, from: number): void {
  const rows: string[] = [];
  for (let i = from; i < session.log.kept.size; i++) {
    const entry = session.log.kept.at(i);
    if (entry === undefined || entry.gap !== '' || entry.main?.type !== 'request') continue;
    const { method, url, status, body, seconds } = entry.summary;
    rows.push(`${method || '-'} ${url || '-'} ${status} ${body} ${seconds}`);
  }
  const lines = book.requests.map((l) => `${l.method} ${l.url} ${l.status} ${l.body} ${l.seconds}`);
  const far = book.requests.filter(
    (l) => !l.restarted && Math.abs(l.micros - l.seconds * 1e6) > 1.5 && l.status !== 400,
  );
  book.same(
    'times that %D has otherwise',
    far.map((l) => `${l.url} ${l.micros} ${l.seconds}`).slice(0, 5),
    [],
  );
  const [ours, theirs] = [difference(rows, lines), difference(lines, rows)];
  book.same(`rows of the log that differ, of ${lines.length}`, ours.slice(0, 5), theirs.slice(0, 5));
}

/** Multiset difference: elements of one missing in the other. */
function difference(of: readonly string[], from: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const one of from) left.set(one, (left.get(one) ?? 0) + 1);
  return of.filter((one) => {
    const n = left.get(one) ?? 0;
    left.set(one, n - 1);
    return n <= 0;
  });
}

function counts(pairs: readonly [string, number][]): [string, number][] {
  return [...pairs].sort(([a], [b]) => (a < b ? -1 : 1));
}

function tally(lines: readonly NcsaLine[], key: (line: NcsaLine) => string, but = ''): [string, number][] {
  const found = new Map<string, number>();
  for (const line of lines) if (key(line) !== but) found.set(key(line), (found.get(key(line)) ?? 0) + 1);
  return counts([...found]);
}

type Figure = 'requests' | 'bytes' | 'misses' | 'errors';

function top(ranks: readonly Rank[], by: Figure): [string, number][] {
  return highest(ranks.map((rank) => [rank.key, rank[by]]));
}

function topOf(lines: readonly NcsaLine[], figure: (line: NcsaLine) => number): [string, number][] {
  const found = new Map<string, number>();
  for (const line of lines)
    if (line.url !== '-') found.set(line.url, (found.get(line.url) ?? 0) + figure(line));
  return highest([...found]);
}

function highest(pairs: [string, number][]): [string, number][] {
  return pairs.sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, TOP);
}
