// The dashboard's two charts and the figures next to their titles.

import type { ChartPainter, ChartSeries } from '../../draw/chart.ts';
import { type Row, rowWidth, type Span, span } from '../../draw/spans.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../../model/counters/rate-history.ts';
import type { Series } from '../../model/counters/series.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { PANEL_EDGES } from '../../model/ui/layout.ts';
import { percent, rate } from '../../model/ui/numbers.ts';
import { axisEnds, type ChartWindow, chartSpan, marksLegend, marksOf } from '../chart-period.ts';

export const CHART_WINDOWS: readonly ChartWindow[] = [null, 300, HOUR_SECONDS, DAY_SECONDS];

/** Time slices for a chart of this width. */
function slicesOf(width: number): number {
  return Math.max(8, width - 8);
}

/** Do means differ from maxima, and is there room to show both? */
function hasMeans(session: DaemonSession, window: ChartWindow, width: number, height: number): boolean {
  return height >= 8 && chartSpan(session, window) >= 2 * slicesOf(width);
}

/** Without a connection no data is being collected. */
function notYet(session: DaemonSession): readonly Row[] {
  return [[span(session.cutOff ? 'no connection' : 'collecting…', 'muted')]];
}

export function requestRows(
  session: DaemonSession,
  width: number,
  height: number,
  chart: ChartPainter | null,
  window: ChartWindow = null,
): readonly Row[] {
  if (session.requests.length < 2) return notYet(session);
  if (chart === null) return [];
  const period = chartSpan(session, window);
  // Maxima: a mean would hide short bursts.
  const { max: peaks, mean } = session.rates
    .over(period)
    .requests.slices(session.lastDataAt, period, slicesOf(width));
  const max = niceCeiling(Math.max(1, ...peaks.filter((v) => !Number.isNaN(v))));
  const series: ChartSeries[] = hasMeans(session, window, width, height)
    ? [
        { values: peaks, style: 'strong' },
        { values: mean, style: 'line1', filled: true },
      ]
    : [{ values: peaks, style: 'line1', filled: true }];
  return chart.draw(series, {
    width,
    height,
    max,
    formatY: (v) => rate(v),
    ...axisEnds(session, period),
    marks: marksOf(session, period),
  });
}

export function servedRows(
  session: DaemonSession,
  width: number,
  height: number,
  chart: ChartPainter | null,
  window: ChartWindow = null,
): readonly Row[] {
  if (session.requests.length < 2) return notYet(session);
  if (chart === null) return [];
  const period = chartSpan(session, window);
  const rates = session.rates.over(period);
  const over = (series: Series): number[] => series.slices(session.lastDataAt, period, slicesOf(width)).mean;
  const handled = over(rates.handled);
  // Without requests there is no share, and nothing is drawn.
  const values = over(rates.hits).map((hits, i) =>
    handled[i] === 0 ? Number.NaN : hits / (handled[i] as number),
  );
  return chart.draw([{ values, style: 'line2', filled: true }], {
    width,
    height,
    max: 1,
    formatY: (v) => `${Math.round(v * 100)}%`,
    ...axisEnds(session, period),
    marks: marksOf(session, period),
  });
}

/** The title of the panel of requests, its cursor and the frame around it. */
const TITLE_CELLS = 18;

/** Current requests per second, the events that are marked, and a legend if the chart has a line and an area; `width` and `height` are the
 * panel's. */
export function requestsRemark(
  session: DaemonSession,
  width: number,
  height: number,
  window: ChartWindow = null,
): Row {
  const now = session.requests.last();
  const figure = now === undefined || Number.isNaN(now) ? [] : [span(`${rate(now)}/s`, 'line1')];
  const legend = hasMeans(session, window, width - PANEL_EDGES, height - 2)
    ? [
        ...[span('peak', 'strong'), span(', ', 'faint'), span('mean', 'line1')],
        ...(figure.length === 0 ? [] : [span(', now ', 'faint')]),
      ]
    : [];
  const used = rowWidth([...legend, ...figure]) + TITLE_CELLS;
  return [...marksLegend(session, chartSpan(session, window), width - used), ...legend, ...figure];
}

/** A hit rate that is this much above the share served from cache is shown, too: much passes. */
const APART = 0.005;

/** The share served from cache over 10, 100 and 1000 seconds or the available data; a narrow panel drops the longer
 * ones. */
export function servedRemark(session: DaemonSession, width: number): Row {
  const out: Span[] = [];
  const { rate: hitRate, served } = session.hitRate.window(10);
  const apart = hitRate !== null && served !== null && hitRate - served > APART && width >= 38;
  const windows = [10, 100, 1000].slice(0, (width >= 52 ? 3 : width >= 38 ? 2 : 1) - (apart ? 1 : 0));
  if (apart) out.push(span('hit rate ', 'faint'), span(`${percent(hitRate)} `, 'muted'));
  for (const size of windows) {
    const { n, seconds, served: value } = session.hitRate.window(size);
    if (out.length > 0) out.push(span('  '));
    out.push(span(`${Math.round(seconds)}s `, 'faint'), span(percent(value), 'line2'));
    // Longer windows would show the same data.
    if (n < size) break;
  }
  return out;
}

/** The next round number (1, 2 or 5 times a power of ten), for a readable scale. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.5, 2, 3, 4, 5, 6, 8, 10]) if (value <= step * power) return step * power;
  return 10 * power;
}
