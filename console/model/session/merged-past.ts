// The history of two instances as one: their samples in the order of their times, one for both from each round of
// samples, from the time on at which both are known. Before that the totals of the other would look like a burst.

import type { PastPoint } from '../../client/source.ts';
import { eachStep } from '../counters/counter-steps.ts';
import { placed } from './admin-line.ts';

export interface Timed {
  /** Epoch seconds. */
  at: number;
}

/** Calls `take` with each sample of either, in order, and `round` when each has had another one, once both are
 * known; also where one has none before the next of the other. */
export function sideBySide<T extends Timed>(
  parts: readonly (readonly T[])[],
  take: (part: number, sample: T) => void,
  round: (at: number) => void,
): void {
  const next = parts.map(() => 0);
  const fresh = new Set<number>();
  let last = 0;
  const end = (): void => {
    if (fresh.size > 0 && next.every((n) => n > 0)) round(last);
    fresh.clear();
  };
  for (;;) {
    let first = -1;
    let sample: T | undefined;
    for (const [part, samples] of parts.entries()) {
      const head = samples[next[part] as number];
      if (head === undefined || (sample !== undefined && head.at >= sample.at)) continue;
      first = part;
      sample = head;
    }
    if (sample === undefined) break;
    if (fresh.has(first)) end();
    take(first, sample);
    next[first] = (next[first] as number) + 1;
    last = sample.at;
    fresh.add(first);
    if (fresh.size === parts.length) end();
  }
  end();
}

/** A counter of an instance: its last value, and its total over all workers. */
export interface Counted {
  name: string;
  value: number;
  total: number;
}

export interface PartHistory {
  part: string;
  counters: readonly Counted[];
  points: readonly PastPoint[];
}

/** The name of a counter of one instance among those of both. */
export function nameAmong(part: string, name: string): string {
  const apart = name.startsWith('VBE.') || name.startsWith('THR.');
  return apart ? `${name.slice(0, 4)}${placed(part, name.slice(4))}` : name;
}

/** Joins the points of two histories: each counter is the total of both, so that it continues in the present values. */
export function mergePoints(parts: readonly PartHistory[]): PastPoint[] {
  const names = [
    ...new Set(parts.flatMap(({ part, counters }) => counters.map((c) => nameAmong(part, c.name)))),
  ];
  const placeOf = new Map(names.map((name, i) => [name, i]));
  const places = parts.map(({ part, counters }) =>
    counters.map(({ name }) => placeOf.get(nameAmong(part, name)) as number),
  );
  const out: PastPoint[] = [];
  const last: (Total | undefined)[] = parts.map(() => undefined);
  sideBySide(
    parts.map(totalsOf),
    (part, total) => {
      last[part] = total;
    },
    (at) => {
      const values = new Float64Array(names.length);
      for (const [part, total] of last.entries())
        for (const [i, place] of (places[part] as number[]).entries())
          values[place] = (values[place] as number) + (total?.totals[i] ?? 0);
      out.push({ at, names, values });
    },
  );
  return out;
}

interface Total extends Timed {
  /** In the order of the instance's counters. */
  totals: Float64Array;
}

/** The total of each counter over all workers at each point: the present total less the increments since. */
function totalsOf({ counters, points }: PartHistory): Total[] {
  const names = counters.map(({ name }) => name);
  const now = { at: Number.POSITIVE_INFINITY, names, values: Float64Array.from(counters, (c) => c.value) };
  const out = points.map(({ at }): Total => ({ at, totals: new Float64Array(names.length) }));
  // First the increments from each point to the next, then the sums.
  eachStep([...points, now], names, (i, { from, before, after, reset }) => {
    (out[from] as Total).totals[i] = reset || after < before ? after : after - before;
  });
  let later: Float64Array = Float64Array.from(counters, (c) => c.total);
  for (const { totals } of out.reverse()) {
    for (const [i, total] of later.entries()) totals[i] = total - (totals[i] as number);
    later = totals;
  }
  return out.reverse();
}
