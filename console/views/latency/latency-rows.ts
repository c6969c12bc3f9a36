// Rows of the latency view: a histogram on a logarithmic scale with hits at the bottom and the rest on top, a table of
// percentiles, and the median and 99th percentile over the last minutes. Glyphs tell hits from the rest without colours.

import type { ChartPainter } from '../../draw/chart.ts';
import { cell, cellRight, type Row, type Span, span, spread } from '../../draw/spans.ts';
import type { Theme } from '../../draw/theme.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { BUCKETS, bucketTop, PER_DECADE, type Quantity } from '../../model/traffic/latency-meter.ts';
import type { TrafficSample, Window } from '../../model/traffic/traffic-sample.ts';
import { amount, clock, count, duration, percent } from '../../model/ui/numbers.ts';
import { axisEnds, chartSpan } from '../chart-period.ts';

const SHARES = [0.5, 0.9, 0.95, 0.99, 0.999] as const;
const KINDS = [
  { name: 'all', label: 'all' },
  { name: 'hits', label: 'hits' },
  { name: 'others', label: 'others' },
] as const;

/** Rows of the percentile table. */
export const PERCENTILE_ROWS = 1 + KINDS.length;

/** Minimum width for the quantity in the title. */
const WIDE = 100;

const WORDS = { all: 'hits and others', hits: 'hits only', others: 'all but hits' } as const;

export const LATENCY_WINDOWS: readonly { seconds: Window; label: string }[] = [
  { seconds: 60, label: 'last minute' },
  { seconds: 300, label: 'last 5 minutes' },
  { seconds: null, label: 'last' },
];

export type Latencies = ReturnType<TrafficSample['latencyOver']>;

/** The quantity shown, and the number of requests. */
export function titleRow(
  session: DaemonSession,
  { size, since }: Latencies,
  shown: Quantity,
  window: Window,
  width: number,
): Row {
  const label = LATENCY_WINDOWS.find(({ seconds }) => seconds === window)?.label ?? '';
  const whole = window !== null && since > 0 && since <= session.dataAt - window + 1;
  const from = whole ? `, ${label}` : size === 0 ? '' : ` since ${clock(since, session.utc)}`;
  const sampled = session.traffic.share() < 0.99 ? `, ${percent(session.traffic.share())} sampled` : '';
  return spread(
    [
      span(' Latency', 'title'),
      span(width < WIDE ? `  ${WORDS[shown]}` : `  to first byte; ${WORDS[shown]}`, 'muted'),
    ],
    [span(`${width < WIDE ? count(size) : amount(size, 'request')}${from}${sampled} `, 'muted')],
    width,
  );
}

/** Lower eighths of a cell. */
const EIGHTHS = ' ▁▂▃▄▅▆▇█';

/** Columns with their axes, at least six rows. */
export function histogramRows(
  latencies: Latencies,
  shown: Quantity,
  screenWidth: number,
  screenHeight: number,
  theme: Theme,
): Row[] {
  const width = screenWidth - 9;
  const height = Math.max(4, screenHeight - 2);
  const { from, to, cells } = histogram(latencies, shown, width);
  const max = Math.max(1, ...cells.map((c) => c.hit + c.other));
  // In eighths of a cell; nonzero counts are always visible.
  const eighths = (n: number): number => (n === 0 ? 0 : Math.max(1, Math.round((n / max) * height * 8)));
  const rows: Row[] = [];
  for (let y = height - 1; y >= 0; y--) {
    const label = y === height - 1 ? count(max) : y === 0 ? '0' : '';
    const spans: Span[] = [cellRight(label, 6, 'faint'), span(` ${theme.glyphs.vertical}`, 'frame')];
    for (const { hit, other } of cells) {
      const within = (n: number): number => Math.max(0, Math.min(8, eighths(n) - 8 * y));
      const drawn = mark(within(hit), within(hit + other), y === 0, theme);
      const last = spans.at(-1) as Span;
      if (last.style === drawn.style && spans.length > 2) last.text += drawn.text;
      else spans.push(drawn);
    }
    rows.push(spans);
  }
  rows.push([
    span(
      `${' '.repeat(7)}${theme.glyphs.braille ? '╰' : '+'}${theme.glyphs.horizontal.repeat(width)}`,
      'frame',
    ),
  ]);
  rows.push(axis(from, to, width));
  return rows;
}

/** A cell filled up to these eighths by hits and by all requests. If both kinds share it, the larger part is drawn. */
function mark(hits: number, all: number, isLowest: boolean, { glyphs }: Theme): Span {
  const isFilled = all >= 4 || (isLowest && all > 0);
  if (all > 0 && hits >= all / 2) {
    if (glyphs.braille) return span(EIGHTHS[all] as string, 'hit');
    return isFilled ? span('|', 'hit') : span(' ');
  }
  // Shades have no eighths, and colour alone would not distinguish it from hits.
  return isFilled ? span(glyphs.braille ? '▒' : '#', 'miss') : span(' ');
}

/** Requests per column: equal steps of the logarithmic range that has values, at least two powers of ten wide. If
 * there are more columns than buckets, neighbours show the same bucket. */
function histogram(
  { hits, others }: Latencies,
  shown: Quantity,
  width: number,
): { from: number; to: number; cells: { hit: number; other: number }[] } {
  const hit = (b: number): number => (shown === 'others' ? 0 : (hits[b] ?? 0));
  const other = (b: number): number => (shown === 'hits' ? 0 : (others[b] ?? 0));
  let from = 0;
  let to = BUCKETS - 1;
  while (from < to && hit(from) + other(from) === 0) from++;
  while (to > from && hit(to) + other(to) === 0) to--;
  from = Math.max(0, from - (from % PER_DECADE));
  to = Math.min(BUCKETS - 1, Math.max(to, from + 2 * PER_DECADE));
  // The same number of buckets per column: mixing one and two would draw false peaks.
  const each = Math.ceil((to - from + 1) / width);
  const parts = Math.ceil((to - from + 1) / each);
  to = from + parts * each - 1;
  const sum = (of: (b: number) => number, part: number): number => {
    let total = 0;
    for (let b = from + part * each; b < from + (part + 1) * each; b++) total += of(b);
    return total;
  };
  const counted = Array.from({ length: parts }, (_, i) => ({ hit: sum(hit, i), other: sum(other, i) }));
  const cells = Array.from(
    { length: width },
    (_, column) => counted[Math.floor((column / width) * parts)] as (typeof counted)[number],
  );
  return { from, to, cells };
}

function axis(from: number, to: number, width: number): Row {
  let text = ' '.repeat(8);
  for (let b = from; b <= to; b += PER_DECADE) {
    const at = 8 + Math.floor(((b - from) / (to - from + 1)) * width);
    const label = b === 0 ? '1µs' : duration(bucketTop(b - 1));
    if (at >= text.length && at + label.length <= width + 8) text = text.padEnd(at) + label;
  }
  return [span(text, 'faint')];
}

/** A row of titles, and a row per kind of request. */
export function percentileRows(meter: Latencies, width: number): Row[] {
  const each = Math.min(10, Math.floor((width - 11) / SHARES.length));
  return [
    [span(' '), cell('', 10), ...SHARES.map((s) => cellRight(`p${s * 100}`, each, 'muted'))],
    ...KINDS.map(
      ({ name, label }): Row => [
        span(' '),
        cell(label, 10, name === 'hits' ? 'hit' : name === 'others' ? 'miss' : 'strong'),
        ...SHARES.map((share) => {
          const value = meter.percentile(share, name);
          return cellRight(value === null ? '–' : duration(value), each);
        }),
      ],
    ),
  ];
}

/** Everything that the sample keeps. */
const SECONDS = 300;
/** Minimum length of a slice: in shorter ones a small site has too few requests for a percentile (tried). */
const LEAST_SECONDS = 3;

/** `height` rows: a legend, the chart. */
export function trailRows(
  session: DaemonSession,
  quantity: Quantity,
  width: number,
  height: number,
  chart: ChartPainter | null,
): readonly Row[] {
  if (chart === null) return [];
  const now = session.lastDataAt;
  const period = Math.min(SECONDS, chartSpan(session, null));
  const slices = Math.min(period / LEAST_SECONDS, Math.max(8, width - 10));
  const { p50, p99 } = session.traffic.sample.latencyTrail(now, period, slices, quantity);
  const known = [...p50, ...p99].filter((v) => !Number.isNaN(v));
  if (known.length === 0) return [];
  const low = Math.floor(Math.log10(Math.min(...known)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...known))));
  const above = (seconds: number): number => Math.log10(seconds) - low;
  return [
    spread([], [span('p99 ', 'strong'), span('p50 ', 'line1'), span('over time ', 'muted')], width),
    ...chart.draw(
      [
        { values: p99.map(above), style: 'strong' },
        { values: p50.map(above), style: 'line1', filled: true },
      ],
      {
        width: width - 1,
        height: height - 1,
        max: high - low,
        formatY: (v) => duration(10 ** (low + v)),
        ...axisEnds(session, period),
      },
    ),
  ];
}
