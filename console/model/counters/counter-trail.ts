// All counters every ten seconds of the last half hour, to find those that move: how fast each counted in a window, and
// in the window before it. Values are as read; a counter counts from zero after a restart of the worker.

import type { PastPoint } from '../../client/source.ts';
import { eachStep } from './counter-steps.ts';

/** Seconds between two points, and how many seconds are kept: twice the longest window. */
const STEP = 10;
const KEPT = 1900;
/** Share of a window that must have been seen for a rate of it. */
const ENOUGH = 0.5;

export interface Moved {
  name: string;
  /** Counted in the window, and in as long a time before it. */
  now: number;
  before: number;
}

export interface Movement {
  moved: Moved[];
  /** Seconds covered in each of the two windows; 0: too few. */
  seconds: number;
  secondsBefore: number;
}

const NOTHING: Movement = { moved: [], seconds: 0, secondsBefore: 0 };

export class CounterTrail {
  /** The oldest first. */
  private points: PastPoint[] = [];
  private latest: PastPoint | null = null;

  /** Whether a sample of this moment would be kept beyond the next one. */
  wants(at: number): boolean {
    return at >= (this.points.at(-1)?.at ?? Number.NEGATIVE_INFINITY) + STEP;
  }

  add(point: PastPoint): void {
    // After a clock was set back there is nothing to compare with.
    if (this.latest !== null && point.at < this.latest.at - STEP) this.points = [];
    else if (this.latest !== null && point.at <= this.latest.at) return;
    this.latest = point;
    if (!this.wants(point.at)) return;
    this.points.push(point);
    while ((this.points[0] as PastPoint).at < point.at - KEPT) this.points.shift();
  }

  /** Adds points of the history where none is kept. */
  recall(points: readonly PastPoint[]): void {
    const known = this.points;
    const until = known.at(-1)?.at ?? Number.POSITIVE_INFINITY;
    const missing = points.filter(
      ({ at }) => at < until && !known.some((point) => Math.abs(point.at - at) < STEP),
    );
    this.points = [...missing, ...known].sort((a, b) => a.at - b.at);
  }

  /** Increments of all counters in the last `window` seconds, and in the window before. */
  movement(window: number): Movement {
    const { latest } = this;
    if (latest === null) return NOTHING;
    const points = [...this.points.filter((point) => point.at < latest.at), latest];
    // A point is at most half a step away from the wanted time.
    const from = points.findIndex((point) => point.at >= latest.at - window - STEP / 2);
    const first = points.findIndex((point) => point.at >= latest.at - 2 * window - STEP / 2);
    const [begin, middle] = [points[first], points[from]];
    if (begin === undefined || middle === undefined) return NOTHING;
    const seconds = latest.at - middle.at;
    const secondsBefore = middle.at - begin.at;
    if (seconds < ENOUGH * window || secondsBefore < ENOUGH * window) return NOTHING;
    const now = increases(points.slice(from), latest.names);
    const before = increases(points.slice(first, from + 1), latest.names);
    const moved = latest.names.map((name, i) => ({
      name,
      now: now[i] as number,
      before: before[i] as number,
    }));
    return { moved, seconds, secondsBefore };
  }
}

/** The increment of each of `names` over these points. */
function increases(points: readonly PastPoint[], names: readonly string[]): Float64Array {
  const out = new Float64Array(names.length);
  eachStep(points, names, (i, { before, after, reset }) => {
    // A new counter has no value before.
    out[i] = (out[i] as number) + (reset || after < before ? after : after - before);
  });
  return out;
}
