// The past of two instances put side by side: their samples in the order of their times, one for both from each round of them, from
// the moment on from which both are known. Before that, what the other had counted would look like a burst.

import type { PastPoint } from '../client/source.ts';
import { placed } from './instance-address.ts';

export interface Timed {
  /** Epoch seconds. */
  at: number;
}

/** Calls `take` with each sample of either, in order, and `round` when each has had one more, once both are known; also where
 * one of them has none, before the other's next. */
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

/** Points of two histories as those of one: counters are summed over the ends of workers, so that none starts again. */
export function mergePoints(
  parts: readonly string[],
  histories: readonly (readonly PastPoint[])[],
): PastPoint[] {
  const out: PastPoint[] = [];
  const totals = new Map<string, number>();
  const last: (PastPoint | undefined)[] = parts.map(() => undefined);
  let names: readonly string[] = [];
  sideBySide(
    histories,
    (part, point) => {
      addTo(totals, parts[part] as string, last[part], point);
      last[part] = point;
    },
    (at) => {
      if (names.length !== totals.size) names = [...totals.keys()];
      out.push({ at, names, values: Float64Array.from(totals.values()) });
    },
  );
  return out;
}

const UPTIME = 'MAIN.uptime';

/** What an instance has counted since its last point; at its first one what it had. */
function addTo(
  totals: Map<string, number>,
  part: string,
  last: PastPoint | undefined,
  point: PastPoint,
): void {
  const uptime = point.names.indexOf(UPTIME);
  const same = last?.names === point.names;
  const before = (i: number): number =>
    last?.values[same ? i : last.names.indexOf(point.names[i] as string)] ?? Number.NaN;
  const began = (point.values[uptime] ?? 0) < before(uptime);
  for (const [i, name] of point.names.entries()) {
    // There is none for two.
    if (name === UPTIME) continue;
    const apart = name.startsWith('VBE.') || name.startsWith('THR.');
    const key = apart ? `${name.slice(0, 4)}${placed(part, name.slice(4))}` : name;
    const value = point.values[i] as number;
    const former = before(i);
    const anew = (began && !name.startsWith('MGT.')) || Number.isNaN(former) || value < former;
    totals.set(key, (totals.get(key) ?? 0) + (anew ? value : value - former));
  }
}
