// Rows of the latency view: a column a step of the logarithmic scale, hits below, the rest on top, the axis in
// powers of ten, and a table of percentiles. Marks tell hits from the rest where colours do not.

import { cell, cellRight, type Row, type Span, span, spread } from '../../draw/spans.ts';
import type { Theme } from '../../draw/theme.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import { BUCKETS, bucketTop, PER_DECADE } from '../../model/latency-meter.ts';
import { clock, count, duration, percent } from '../../model/numbers.ts';

const SHARES = [0.5, 0.9, 0.95, 0.99, 0.999] as const;
const KINDS = [
  { name: 'all', label: 'all' },
  { name: 'hits', label: 'hits' },
  { name: 'others', label: 'not hits' },
] as const;

/** Rows of the table of percentiles. */
export const PERCENTILE_ROWS = 1 + KINDS.length;

/** From this width on the title has room for what is measured. */
const WIDE = 100;

/** Whose times are shown. */
export type Quantity = (typeof KINDS)[number]['name'];

const WORDS = { all: 'hits and others', hits: 'hits only', others: 'all but hits' } as const;

/** What is counted, and of how many requests. */
export function titleRow(session: DaemonSession, shown: Quantity, width: number): Row {
  const { size, since } = session.sample.latency;
  const sampled = session.sampleShare() < 0.99 ? `, ${percent(session.sampleShare())} sampled` : '';
  return spread(
    [
      span(' Latency', 'title'),
      span(width < WIDE ? `  ${WORDS[shown]}` : `  until the first byte goes out; ${WORDS[shown]}`, 'muted'),
    ],
    [
      span(
        `${width < WIDE ? '' : 'last '}${count(size)}${size === 0 ? '' : ` since ${clock(since, session.utc)}`}${sampled} `,
        'muted',
      ),
    ],
    width,
  );
}

/** `height` rows of columns with their axes. */
export function histogramRows(
  session: DaemonSession,
  shown: Quantity,
  width: number,
  height: number,
  theme: Theme,
): Row[] {
  return columns(session, shown, width - 9, Math.max(4, height - 2), theme);
}

function columns(session: DaemonSession, shown: string, width: number, height: number, theme: Theme): Row[] {
  const { hits, others } = session.sample.latency;
  const of = (list: Uint32Array, kind: string, b: number): number =>
    shown === 'all' || shown === kind ? (list[b] as number) : 0;
  // The stretch that has values, at least two powers of ten wide.
  let from = 0;
  let to = BUCKETS - 1;
  while (from < to && of(hits, 'hits', from) + of(others, 'others', from) === 0) from++;
  while (to > from && of(hits, 'hits', to) + of(others, 'others', to) === 0) to--;
  from = Math.max(0, from - (from % PER_DECADE));
  to = Math.min(BUCKETS - 1, Math.max(to, from + 2 * PER_DECADE));
  const cells = Array.from({ length: width }, () => ({ hit: 0, other: 0 }));
  for (let b = from; b <= to; b++) {
    const c = cells[
      Math.min(width - 1, Math.floor(((b - from) / (to - from + 1)) * width))
    ] as (typeof cells)[number];
    c.hit += of(hits, 'hits', b);
    c.other += of(others, 'others', b);
  }
  // One bucket may fill several columns on a wide screen: its neighbours to the right repeat it.
  const each = Math.max(1, Math.floor(width / (to - from + 1)));
  if (each > 1) {
    for (let i = width - 1; i >= 0; i--)
      cells[i] = cells[Math.floor((Math.floor((i / width) * (to - from + 1)) / (to - from + 1)) * width)] ?? {
        hit: 0,
        other: 0,
      };
  }
  const max = Math.max(1, ...cells.map((c) => c.hit + c.other));
  const rows: Row[] = [];
  const marks = theme.glyphs.braille ? { hit: '█', other: '▒' } : { hit: '|', other: '#' };
  for (let y = height - 1; y >= 0; y--) {
    const label = y === height - 1 ? count(max) : y === 0 ? '0' : '';
    const spans: Span[] = [cellRight(label, 6, 'faint'), span(` ${theme.glyphs.vertical}`, 'frame')];
    for (const c of cells) {
      const whole = ((c.hit + c.other) / max) * height;
      const hit = (c.hit / max) * height;
      const filled = y < whole && (whole >= 0.02 || y === 0) && whole > y + (y === 0 ? 0 : 0.5);
      const mark = !filled ? ' ' : y < Math.max(hit, c.hit > 0 && y === 0 ? 1 : 0) ? marks.hit : marks.other;
      const style = mark === marks.hit ? 'hit' : mark === marks.other ? 'miss' : undefined;
      const last = spans.at(-1) as Span;
      if (last.style === style && spans.length > 2) last.text += mark;
      else spans.push(style === undefined ? { text: mark } : { text: mark, style });
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

function axis(from: number, to: number, width: number): Row {
  let text = ' '.repeat(8);
  for (let b = from; b <= to; b += PER_DECADE) {
    const at = 8 + Math.floor(((b - from) / (to - from + 1)) * width);
    const label = b === 0 ? '1µs' : duration(bucketTop(b - 1));
    if (at >= text.length && at + label.length <= width + 8) text = text.padEnd(at) + label;
  }
  return [span(text, 'faint')];
}

/** A row of titles and a row a kind of request. */
export function percentileRows(session: DaemonSession, width: number): Row[] {
  const meter = session.sample.latency;
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
