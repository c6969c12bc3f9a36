// Median and 99th percentile over the last minutes, on a logarithmic scale: the one is often a thousandth of the other.

import type { ChartPainter } from '../../draw/chart.ts';
import { type Row, span, spread } from '../../draw/spans.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import type { Quantity } from '../../model/latency-meter.ts';
import { duration } from '../../model/numbers.ts';
import { axisEnds, chartSpan } from '../chart-period.ts';

/** All that the sample keeps. */
const SECONDS = 300;
/** Of a slice: in less a small site has too few requests for a percentile (tried). */
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
  const { p50, p99 } = session.sample.latencyTrail(now, period, slices, quantity);
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
