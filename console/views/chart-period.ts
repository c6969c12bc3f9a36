// The period that charts cover: its length, axis labels, and event marks.

import type { ChartMark } from '../draw/chart.ts';
import { type Span, span } from '../draw/spans.ts';
import type { DaemonSession } from '../model/session/daemon-session.ts';
import { clock } from '../model/ui/numbers.ts';
import { markOf, toneOf } from './events/event-tones.ts';

const PERIODS = [60, 120, 300, 600] as const;

/** Seconds that the charts cover; null: the available data, up to a quarter of an hour. */
export type ChartWindow = number | null;

/** The length of the available data in round steps, so that a chart neither starts empty nor jumps. */
export function chartSpan(session: DaemonSession, window: ChartWindow): number {
  if (window !== null) return window;
  const seconds = session.requests.spanTo(session.lastDataAt);
  return PERIODS.find((p) => seconds <= p) ?? 900;
}

/** Labels at both ends of the axis over the last `period` seconds: clock times unless the right end is now. */
export function axisEnds(session: DaemonSession, period: number): { left: string; right: string } {
  const { lastDataAt, source, utc } = session;
  if (!session.isOld && source.recorded !== true) return { left: ago(period), right: 'now' };
  return { left: clock(lastDataAt - period, utc), right: clock(lastDataAt, utc) };
}

function ago(seconds: number): string {
  if (seconds >= 3600) return `${seconds / 3600} h ago`;
  return seconds < 120 ? `${seconds} s ago` : `${seconds / 60} min ago`;
}

/** The letters on a chart of the last `period` seconds with their kinds, as far as there are `cells` for them: those that came
 * last first, which are what one looks for. */
export function marksLegend(session: DaemonSession, period: number, cells: number): Span[] {
  const events = session.events.since(session.lastDataAt - period);
  const kinds = new Set(events.map(({ kind }) => kind).reverse());
  const out: Span[] = [];
  let left = cells;
  for (const kind of kinds) {
    const [mark, word] = [markOf(kind), ` ${kind}  `];
    if (mark === '' || left < mark.length + word.length) continue;
    left -= mark.length + word.length;
    out.push(span(mark, toneOf(kind)), span(word, 'faint'));
  }
  return out;
}

/** Marks of events in the last `period` seconds. */
export function marksOf(session: DaemonSession, period: number): ChartMark[] {
  const from = session.lastDataAt - period;
  return session.events
    .since(from)
    .filter((event) => event.kind !== 'lost')
    .map((event) => ({
      at: (event.at - from) / period,
      text: markOf(event.kind),
      style: toneOf(event.kind),
    }));
}
