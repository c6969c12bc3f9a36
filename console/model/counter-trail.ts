// All counters every ten seconds of the last half hour, to say which of them move: how fast each counted in a window, and
// in as long a time before it. Values are what was read; a worker that began again in between counts from zero.

import type { PastPoint } from '../client/source.ts';

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
  /** Seconds that each of the two was seen; 0: too few to say anything. */
  seconds: number;
  secondsBefore: number;
}

const UPTIME = 'MAIN.uptime';
const NOTHING: Movement = { moved: [], seconds: 0, secondsBefore: 0 };

export class CounterTrail {
  /** The oldest first. */
  private points: PastPoint[] = [];
  private latest: PastPoint | null = null;

  /** Whether a sample of this moment would be kept for longer than until the next. */
  wants(at: number): boolean {
    return at >= (this.points.at(-1)?.at ?? Number.NEGATIVE_INFINITY) + STEP;
  }

  add(point: PastPoint): void {
    // A clock that was set back: there is nothing to compare with at the times that come now.
    if (this.latest !== null && point.at < this.latest.at - STEP) this.points = [];
    else if (this.latest !== null && point.at <= this.latest.at) return;
    this.latest = point;
    if (!this.wants(point.at)) return;
    this.points.push(point);
    while ((this.points[0] as PastPoint).at < point.at - KEPT) this.points.shift();
  }

  /** Points of before all that came so far; those that are known are left out. */
  prepend(points: readonly PastPoint[]): void {
    const first = this.points[0]?.at ?? Number.POSITIVE_INFINITY;
    this.points = [...points.filter((point) => point.at < first), ...this.points];
  }

  /** What was counted in the last `window` seconds, and in as many before them. */
  movement(window: number): Movement {
    const { latest } = this;
    if (latest === null) return NOTHING;
    const points = [...this.points.filter((point) => point.at < latest.at), latest];
    // A point is half a step away from the moment that is meant, at the most.
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

/** What each of `names` has counted over these points. */
function increases(points: readonly PastPoint[], names: readonly string[]): Float64Array {
  const out = new Float64Array(names.length);
  for (let p = 1; p < points.length; p++) {
    const [a, b] = [points[p - 1] as PastPoint, points[p] as PastPoint];
    const placesA = placesOf(names, a.names);
    const placesB = placesOf(names, b.names);
    const uptime = names.indexOf(UPTIME);
    const began = uptime >= 0 && valueAt(b, placesB, uptime) < valueAt(a, placesA, uptime);
    for (let i = 0; i < names.length; i++) {
      const before = valueAt(a, placesA, i);
      const after = valueAt(b, placesB, i);
      // One that is new was not counted before.
      if (Number.isNaN(after)) continue;
      const anew = began && names[i]?.startsWith('MGT.') !== true;
      out[i] = (out[i] as number) + (anew || Number.isNaN(before) || after < before ? after : after - before);
    }
  }
  return out;
}

function valueAt(point: PastPoint, places: readonly number[] | null, i: number): number {
  return point.values[places === null ? i : (places[i] as number)] ?? Number.NaN;
}

/** Null: they are the same. */
function placesOf(names: readonly string[], of: readonly string[]): readonly number[] | null {
  if (names === of) return null;
  const places = new Map(of.map((name, i) => [name, i]));
  return names.map((name) => places.get(name) ?? -1);
}
