// Increments of counters from each sample to the next, across restarts of the worker and changes of the set of
// counters.

import type { PastPoint } from '../../client/source.ts';

export interface CounterStep {
  /** Index of the point that it begins with. */
  from: number;
  /** A counter that is new was at zero before. */
  before: number;
  after: number;
  /** It was reset in between. */
  reset: boolean;
  seconds: number;
}

const UPTIME = 'MAIN.uptime';

/** Calls `take` with the index of each of `names` that has a value, and with its step; the step object is reused. */
export function eachStep(
  points: readonly PastPoint[],
  names: readonly string[],
  take: (i: number, step: CounterStep) => void,
): void {
  const ofManager = names.map((name) => name.startsWith('MGT.'));
  const step: CounterStep = { from: 0, before: 0, after: 0, reset: false, seconds: 0 };
  let placesA: Int32Array | null = null;
  for (const [p, b] of points.entries()) {
    const a = points[p - 1];
    const placesB: Int32Array =
      a !== undefined && a.names === b.names && placesA !== null ? placesA : placesOf(names, b.names);
    if (a !== undefined && placesA !== null) {
      step.from = p - 1;
      step.seconds = b.at - a.at;
      const began = uptimeOf(b) < uptimeOf(a);
      for (let i = 0; i < names.length && step.seconds > 0; i++) {
        step.after = valueAt(b, placesB, i);
        if (Number.isNaN(step.after)) continue;
        const before = valueAt(a, placesA, i);
        const isNew = Number.isNaN(before);
        step.before = isNew ? 0 : before;
        step.reset = isNew || (began && ofManager[i] !== true);
        take(i, step);
      }
    }
    placesA = placesB;
  }
}

function uptimeOf({ names, values }: PastPoint): number {
  return values[names.indexOf(UPTIME)] ?? Number.NaN;
}

/** NaN without a value. */
function valueAt(point: PastPoint, places: Int32Array, i: number): number {
  const place = places[i] ?? -1;
  return place < 0 ? Number.NaN : (point.values[place] ?? Number.NaN);
}

/** Index of each of `names` among others; -1 if absent. */
function placesOf(names: readonly string[], others: readonly string[]): Int32Array {
  if (names === others) return Int32Array.from(names, (_, i) => i);
  const places = new Map(others.map((name, i) => [name, i]));
  return Int32Array.from(names, (name) => places.get(name) ?? -1);
}
