// Request outcomes, bytes out, objects, storage use: figures with bars, or a donut if it fits.

import type { ChartPainter } from '../../draw/chart.ts';
import { bar, cell, cellRight, type Row, type Span, span, spread } from '../../draw/spans.ts';
import type { StyleName, Theme } from '../../draw/theme.ts';
import { hasNoWorker } from '../../model/session/daemon-health.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { bytes, count, percent, rate } from '../../model/ui/numbers.ts';
import { expiryText } from '../certificates/certificates-view.ts';

const OUTCOMES: readonly { name: string; counters: readonly string[]; style: StyleName }[] = [
  { name: 'hit', counters: ['MAIN.cache_hit'], style: 'hit' },
  { name: 'miss', counters: ['MAIN.cache_miss'], style: 'miss' },
  { name: 'pass', counters: ['MAIN.s_pass', 'MAIN.s_pipe'], style: 'pass' },
  { name: 'synth', counters: ['MAIN.s_synth'], style: 'synth' },
];

/** Warning about an expiring certificate; otherwise the rate of ESI fragments, whose lookups are included in the shares. */
export function trafficRemark(session: DaemonSession, room = Number.POSITIVE_INFINITY): Row {
  const expiry = expiryText(session);
  if (expiry !== null) return [span(expiry.text, expiry.tone)];
  const fragments = session.counters.rate('MAIN.esi_req');
  if (fragments === 0) return [];
  const long = `with ${rate(fragments)}/s fragments`;
  return [span(long.length > room ? `+${rate(fragments)}/s ESI` : long, 'faint')];
}

/** Size of the donut, and the minimum width of the figures next to it. */
const RING = { width: 14, height: 7, beside: 15 };

export function trafficRows(
  session: DaemonSession,
  width: number,
  height: number,
  storage: boolean,
  theme: Theme,
  chart: ChartPainter | null,
): Row[] {
  const { counters } = session;
  // No zero rates before the first connection.
  if (!session.everUp) return [];
  if (!counters.hasRates) {
    const store = storage ? storageRows(session, width, theme) : [];
    return [[span('collecting…', 'muted')], ...store].slice(0, height);
  }
  const rates = OUTCOMES.map((o) => o.counters.reduce((sum, name) => sum + counters.rate(name), 0));
  const total = Math.max(
    1e-9,
    rates.reduce((a, b) => a + b, 0),
  );
  if (!storage && width >= RING.width + RING.beside && height >= RING.height) {
    const shares = rates.map((value, i) => ({
      share: value / total,
      style: (OUTCOMES[i] as (typeof OUTCOMES)[number]).style,
    }));
    const [hits = 0] = rates;
    const nothing = rates.every((value) => value === 0);
    // The share that the chart beside shows.
    const middle = nothing ? theme.glyphs.dash : `${Math.round((100 * hits) / total)}%`;
    const ring = chart?.donut(shares, RING.width, RING.height, span(middle, 'hit')) ?? null;
    if (ring !== null) return beside(ring, figures(session, rates, total, width - RING.width - 1), height);
  }
  const barWidth = Math.max(4, width - 17);
  const rows: Row[] = OUTCOMES.map((o, i) => {
    const value = rates[i] as number;
    return [
      cell(o.name, 6, o.style),
      cellRight(`${rate(value)}/s`, 9),
      span('  '),
      ...bar(value / total, barWidth, theme, o.style),
    ];
  });
  const out = counters.rate('MAIN.s_resp_bodybytes') + counters.rate('MAIN.s_resp_hdrbytes');
  const sent: Row = spread([span('sent to clients', 'muted')], [span(`${bytes(out)}/s`)], width);
  if (storage) {
    const store = storageRows(session, width, theme);
    return [...rows.slice(0, Math.max(2, height - 2)), ...store].slice(0, height);
  }
  const { bytes: bytesHit } = session.hitRate.window(10);
  rows.push(
    sent,
    ...(bytesHit === null
      ? []
      : [spread([span('bytes from hits', 'muted')], [span(percent(bytesHit))], width)]),
    spread([span('fetches', 'muted')], [span(`${rate(counters.rate('MAIN.s_fetch'))}/s`)], width),
    spread([span('sessions', 'muted')], [span(`${rate(counters.rate('MAIN.sess_conn'))}/s`)], width),
  );
  if (counters.get('MAIN.h2_streams') !== undefined)
    rows.push(spread([span('over HTTP/2', 'muted')], [span(http2Share(session))], width));
  if (counters.get('TLS.handshakes') !== undefined)
    rows.push(
      spread([span('TLS handshakes', 'muted')], [span(`${rate(counters.rate('TLS.handshakes'))}/s`)], width),
    );
  return rows;
}

/** The part of the clients' requests that came over HTTP/2. */
function http2Share({ counters }: DaemonSession): string {
  const requests = counters.rate('MAIN.client_req');
  return requests > 0 ? percent(Math.min(1, counters.rate('MAIN.h2_streams') / requests)) : '-';
}

/** The donut's shares as figures, and a few more. */
function figures(session: DaemonSession, rates: readonly number[], total: number, width: number): Row[] {
  const { counters } = session;
  const out = counters.rate('MAIN.s_resp_bodybytes') + counters.rate('MAIN.s_resp_hdrbytes');
  const share = width >= 24;
  const { bytes: bytesHit } = session.hitRate.window(10);
  const line = (name: string, value: string): Row => spread([span(name, 'muted')], [span(value)], width);
  return [
    ...OUTCOMES.map(({ name, style }, i): Row => {
      const value = rates[i] as number;
      const part: Span[] = share ? [span(percent(value / total).padStart(8), 'muted')] : [];
      return spread([span(name, style)], [span(`${rate(value)}/s`), ...part], width);
    }),
    line('sent', `${bytes(out)}/s`),
    ...(bytesHit === null
      ? []
      : [line(width >= 22 ? 'bytes from hits' : width >= 17 ? 'hit bytes' : 'hit B', percent(bytesHit))]),
    line('fetches', `${rate(counters.rate('MAIN.s_fetch'))}/s`),
    line(width >= 16 ? 'sessions' : 'conns', `${rate(counters.rate('MAIN.sess_conn'))}/s`),
    ...(counters.get('MAIN.h2_streams') === undefined ? [] : [line('over HTTP/2', http2Share(session))]),
  ];
}

function beside(left: readonly Row[], right: readonly Row[], height: number): Row[] {
  return left.slice(0, height).map((row, i) => [...row, span(' '), ...(right[i] ?? [])]);
}

/** Counters of stored objects, and of those that left the cache. */
const KEPT: readonly (readonly [string, string])[] = [
  ['MAIN.n_object', 'objects'],
  ['MAIN.n_expired', 'expired'],
  ['MAIN.n_lru_nuked', 'evicted'],
  ['MAIN.bans', 'bans'],
];

/** A row per storage with its use, then objects and evictions. */
export function storageRows(session: DaemonSession, width: number, theme: Theme): Row[] {
  if (!session.everUp) return [];
  const { counters } = session;
  const rows: Row[] = [];
  if (hasNoWorker(session)) return [[span('no worker, no cache', 'muted')]];
  for (const counter of counters.all()) {
    // Most of thousands of counters are those of backends.
    if (!counter.info.name.startsWith('SMA.')) continue;
    const name = /^SMA\.(.+)\.g_bytes$/.exec(counter.info.name)?.[1];
    if (name === undefined) continue;
    const used = Number(counter.current);
    const free = Number(counters.value(`SMA.${name}.g_space`));
    const unlimited = free === 0;
    const text = unlimited ? bytes(used) : `${bytes(used)} of ${bytes(used + free)}`;
    const label = cell(name, Math.min(10, name.length + 1), 'strong');
    if (unlimited) {
      rows.push(spread([label], [span(text)], width));
      continue;
    }
    const share = used / (used + free);
    const style: StyleName = share > 0.95 ? 'bad' : share > 0.8 ? 'warn' : 'line1';
    const room = width - label.text.length - text.length - 2;
    rows.push(
      room >= 4
        ? [label, ...bar(share, room, theme, style), span(`  ${text}`)]
        : spread([label], [span(text)], width),
    );
  }
  for (const [name, label] of KEPT) {
    const counter = counters.get(name);
    // Recorded logs do not have them.
    if (counter !== undefined)
      rows.push(spread([span(label, 'muted')], [span(count(Number(counter.current)))], width));
  }
  return rows.length === 0 ? [[span('not known', 'muted')]] : rows;
}
