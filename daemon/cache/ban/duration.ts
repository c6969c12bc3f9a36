// Durations as ban expressions write them: "1.5h". Parsed strictly; shown in the largest unit of which they
// are a whole number, as Varnish lists them.

import { TIME_UNIT_NAMES, TIME_UNITS } from '../../../protocol/units.ts';

const DURATION = new RegExp(`^(-?(?:\\d+\\.?\\d*|\\.\\d+))\\s*(${TIME_UNIT_NAMES})$`);

/** Seconds; NaN when the text is no duration. */
export function duration(text: string): number {
  const parts = DURATION.exec(text);
  if (parts === null) return Number.NaN;
  return Number(parts[1]) * (TIME_UNITS.get(parts[2] as string) as number);
}

export function durationText(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  if (ms > 0 && ms < 1000) return `${ms}ms`;
  for (const unit of ['y', 'w', 'd', 'h', 'm'] as const) {
    const size = (TIME_UNITS.get(unit) as number) * 1000;
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${(ms / 1000).toFixed(3)}s`;
}
