// Parses the output of `varnishstat -j`: releases before 6.5 have counters next to the time, later ones in an object
// of their own. Values stay exact beyond doubles. The output has no levels; they are taken from our counter of the
// same name.

import type { CounterInfo } from '../../protocol/messages.ts';
import { MAIN_COUNTERS, MGT_COUNTERS, SMA_COUNTERS, VBE_COUNTERS } from '../../protocol/tables/counters.ts';

export interface CounterSample {
  info: CounterInfo[];
  values: bigint[];
}

const ROWS = {
  MGT: MGT_COUNTERS,
  MAIN: MAIN_COUNTERS,
  SMA: SMA_COUNTERS,
  SMF: SMA_COUNTERS,
  VBE: VBE_COUNTERS,
};

const LEVELS = new Map(
  Object.entries(ROWS).flatMap(([group, rows]) =>
    rows.map((row): [string, CounterInfo['level']] => [`${group} ${row.name}`, row.level]),
  ),
);

/** Null for anything else. */
export function parseCounters(text: string): CounterSample | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/("value": *)(\d+)/g, '$1"$2"'));
  } catch {
    return null;
  }
  if (typeof parsed !== 'object' || parsed === null) return null;
  const all = (parsed as { counters?: unknown }).counters ?? parsed;
  const sample: CounterSample = { info: [], values: [] };
  for (const [name, value] of Object.entries(all as Record<string, unknown>)) {
    if (typeof value !== 'object' || value === null) continue;
    const row = value as Record<string, unknown>;
    if (typeof row.value !== 'string' || !/^\d+$/.test(row.value)) continue;
    sample.info.push({
      name,
      flag: oneOf(row.flag, ['c', 'g', 'b'], 'c'),
      format: oneOf(row.format, ['i', 'B', 'd', 'b'], 'i'),
      level: levelOf(name),
      description: String(row.description ?? ''),
    });
    sample.values.push(BigInt(row.value));
  }
  return sample.info.length === 0 ? null : sample;
}

function oneOf<T extends string>(value: unknown, known: readonly T[], otherwise: T): T {
  return known.includes(value as T) ? (value as T) : otherwise;
}

function levelOf(name: string): CounterInfo['level'] {
  const group = name.slice(0, name.indexOf('.'));
  return (
    LEVELS.get(`${group} ${name.slice(name.lastIndexOf('.') + 1)}`) ?? (group === 'MAIN' ? 'diag' : 'debug')
  );
}
