// The two charts of the dashboard and the figures beside their titles.

import type { ChartPainter } from '../../draw/chart.ts';
import { type Row, type Span, span } from '../../draw/spans.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import { percent, rate } from '../../model/numbers.ts';

const PERIODS = [60, 120, 300, 600] as const;

/** Seconds that a chart covers: what there is, in round steps, so that it neither starts empty nor jumps. */
function chartSpan(samples: number): number {
  return PERIODS.find((p) => samples <= p) ?? 900;
}

function ago(seconds: number): string {
  return seconds < 120 ? `${seconds} s ago` : `${seconds / 60} min ago`;
}

export function requestRows(
  session: DaemonSession,
  width: number,
  height: number,
  chart: ChartPainter | null,
): readonly Row[] {
  if (session.requests.length < 2) return [[span('collecting…', 'muted')]];
  if (chart === null) return [];
  const period = chartSpan(session.requests.length);
  const values = session.requests.resample(session.lastDataAt, period, Math.max(8, width - 8));
  const max = niceCeiling(Math.max(1, ...values.filter((v) => !Number.isNaN(v))));
  return chart.draw([{ values, style: 'line1' }], {
    width,
    height,
    max,
    formatY: (v) => rate(v),
    left: ago(period),
    right: 'now',
  });
}

export function hitRateRows(
  session: DaemonSession,
  width: number,
  height: number,
  chart: ChartPainter | null,
): readonly Row[] {
  if (session.hits.length < 2) return [[span('collecting…', 'muted')]];
  if (chart === null) return [];
  const period = chartSpan(session.hits.length);
  const values = session.hits.resample(session.lastDataAt, period, Math.max(8, width - 8));
  return chart.draw([{ values, style: 'line2' }], {
    width,
    height,
    max: 1,
    formatY: (v) => `${Math.round(v * 100)}%`,
    left: ago(period),
    right: 'now',
  });
}

export function requestsRemark(session: DaemonSession): Row {
  const now = session.requests.last();
  return now === undefined || Number.isNaN(now) ? [] : [span(`${rate(now)}/s`, 'line1')];
}

/** Hit rate over 10, 100 and 1000 seconds; the longer windows give way on a narrow panel. */
export function hitRateRemark(session: DaemonSession, width: number): Row {
  const out: Span[] = [];
  const windows = width >= 52 ? [10, 100, 1000] : width >= 38 ? [10, 100] : [10];
  for (const window of windows) {
    const { rate: value } = session.hitRate.window(window);
    if (out.length > 0) out.push(span('  '));
    out.push(span(`${window}s `, 'faint'), span(percent(value), 'line2'));
  }
  return out;
}

/** The next short multiple of a power of ten: a scale that people read. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.5, 2, 3, 4, 5, 6, 8, 10]) if (value <= step * power) return step * power;
  return 10 * power;
}
