// What the dashboard tells of the sampled traffic: percentiles, status classes, the most asked for and the most
// missed. Every figure is of a sample, and the title says so where the sample is not all.

import { ellipsis } from '../../draw/cells.ts';
import { bar, cell, cellRight, type Row, span, spread } from '../../draw/spans.ts';
import type { StyleName, Theme } from '../../draw/theme.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import { count, duration, percent } from '../../model/numbers.ts';
import { nothing } from './dashboard-nothing.ts';

const SHARES = [0.5, 0.9, 0.99];
const FEW_SHARES = [0.5, 0.99];
/** The longest duration and a blank. */
const DURATION_CELLS = 7;

export function latencySummary(session: DaemonSession, width: number, theme: Theme): Row[] {
  const { latency } = session.sample;
  if (latency.size === 0) return nothing(session, 'no traffic yet', width);
  const shares = width >= 8 + DURATION_CELLS * SHARES.length ? SHARES : FEW_SHARES;
  const cells = Math.max(DURATION_CELLS, Math.floor((width - 8) / shares.length));
  return [
    [cell('', 8), ...shares.map((s) => cellRight(`p${s * 100}`, cells, 'muted'))],
    ...(['all', 'hits', 'others'] as const).map(
      (kind): Row => [
        cell(kind, 8, kind === 'hits' ? 'hit' : kind === 'others' ? 'miss' : 'strong'),
        ...shares.map((share) => {
          const value = latency.percentile(share, kind);
          return cellRight(value === null ? theme.glyphs.dash : duration(value), cells);
        }),
      ],
    ),
  ];
}

/** The same in a few words, where there is no room for a table. */
export function percentileRemark(session: DaemonSession): Row {
  const of = (share: number): string => {
    const value = session.sample.latency.percentile(share);
    return value === null ? '' : `p${share * 100} ${duration(value)}`;
  };
  return session.sample.latency.size === 0 ? [] : [span(SHARES.map(of).join('  '), 'muted')];
}

export function sampleRemark(session: DaemonSession): Row {
  const share = session.sampleShare();
  return share >= 0.99 ? [] : [span(`of ${percent(share)}`, 'faint')];
}

const CLASSES: readonly { from: number; label: string; style: StyleName }[] = [
  { from: 200, label: '2xx', style: 'good' },
  { from: 300, label: '3xx', style: 'accent' },
  { from: 400, label: '4xx', style: 'warn' },
  { from: 500, label: '5xx', style: 'bad' },
];

export function statusRows(session: DaemonSession, width: number, height: number, theme: Theme): Row[] {
  const ranks = session.sample.all('status');
  const total = ranks.reduce((sum, r) => sum + r.requests, 0);
  if (total === 0) return nothing(session, 'no traffic yet', width);
  const rows = CLASSES.map(({ from, label, style }): Row => {
    const inside = ranks.filter((r) => Number(r.key) >= from && Number(r.key) < from + 100);
    const n = inside.reduce((sum, r) => sum + r.requests, 0);
    const room = Math.max(0, width - 13);
    return [
      cell(label, 4, style),
      cellRight(percent(n / total), 7),
      span('  '),
      ...(room >= 4 ? bar(n / total, room, theme, style) : []),
    ];
  });
  for (const r of [...ranks].filter((one) => Number(one.key) >= 400).sort((a, b) => b.requests - a.requests))
    rows.push([
      cell(r.key, 4, Number(r.key) >= 500 ? 'bad' : 'warn'),
      cellRight(count(r.requests), 7, 'muted'),
    ]);
  return rows.slice(0, height);
}

export function topRows(
  session: DaemonSession,
  by: 'requests' | 'misses',
  width: number,
  height: number,
  theme: Theme,
): Row[] {
  const ranks = session.sample.top('url', by, height).filter((r) => r[by] > 0);
  if (ranks.length === 0)
    return nothing(session, by === 'misses' ? 'no misses yet' : 'no traffic yet', width);
  return ranks.map((r) =>
    spread(
      [span(ellipsis(r.key, width - 9, theme.glyphs.ellipsis))],
      [span(count(r[by]), by === 'misses' ? 'miss' : 'strong')],
      width,
    ),
  );
}
