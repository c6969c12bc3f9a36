// From each sample of counters to the next one: how much each has counted between them, over the ends of workers and where
// the set of counters changes.

import type { PastPoint } from '../../client/source.ts';

export interface CounterStep {
  /** Place of the point that it begins with. */
  from: number;
  /** A counter that is new was at zero before. */
  before: number;
  after: number;
  /** It counts from zero since. */
  anew: boolean;
  seconds: number;
}

const UPTIME = 'MAIN.uptime';

/** Calls `take` with the place of each of `names` that has a value and with its step; the step is the same object each time. */
export function eachStep(
  points: readonly PastPoint[],
  names: readonly string[],
  take: (i: number, step: CounterStep) => void,
): void {
  const ofManager = names.map((name) => name.startsWith('MGT.'));
  const step: CounterStep = { from: 0, before: 0, after: 0, anew: false, seconds: 0 };
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
        step.anew = isNew || (began && ofManager[i] !== true);
        take(i, step);
      }
    }
    placesA = placesB;
  }
}

function uptimeOf({ names, values }: PastPoint): number {
  return values[names.indexOf(UPTIME)] ?? Number.NaN;
}

/** NaN: it has none. */
function valueAt(point: PastPoint, places: Int32Array, i: number): number {
  const place = places[i] ?? -1;
  return place < 0 ? Number.NaN : (point.values[place] ?? Number.NaN);
}

/** Where each of `names` stands among others; -1: nowhere. */
function placesOf(names: readonly string[], others: readonly string[]): Int32Array {
  if (names === others) return Int32Array.from(names, (_, i) => i);
  const places = new Map(others.map((name, i) => [name, i]));
  return Int32Array.from(names, (name) => places.get(name) ?? -1);
}
