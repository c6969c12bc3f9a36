// Numbers as operators read them: durations, binary and decimal scales, rates of a constant width. Counters below 10^6
// are never scaled: small exact numbers are compared.

import { localTime } from '../../../protocol/local-time.ts';
import { DAY, HOUR, MINUTE } from '../../../protocol/units.ts';

const BINARY = ['', 'K', 'M', 'G', 'T', 'P', 'E'] as const;

/** Bytes with two decimals from 1024 on: 1.62K, 100.00M. */
export function scaledBytes(value: number): string {
  let v = value;
  let i = 0;
  while (Math.abs(v) >= 1024 && i < BINARY.length - 1) {
    v /= 1024;
    i++;
  }
  return i === 0 ? v.toFixed(0) : `${v.toFixed(2)}${BINARY[i]}`;
}

/** Bytes for prose and gauges: 1.6 KB, 100 MB (binary steps). */
export function bytes(value: number): string {
  let v = value;
  let i = 0;
  // The next unit from 1000 on: four digits do not fit beside a bar.
  while (Math.abs(v) >= 1000 && i < BINARY.length - 1) {
    v /= 1024;
    i++;
  }
  return i === 0 ? `${v.toFixed(0)} B` : `${v < 10 ? v.toFixed(1) : v.toFixed(0)} ${BINARY[i]}B`;
}

/** 950, 1,234, 45.6k, 7.8M: at most six cells. */
export function count(value: number): string {
  const v = Math.abs(value);
  if (v < 10_000) return group(Math.round(value).toString());
  if (v < 1e6) return `${(value / 1e3).toFixed(1)}k`;
  if (v < 1e9) return `${(value / 1e6).toFixed(1)}M`;
  return `${(value / 1e9).toFixed(1)}G`;
}

/** A rate per second: one decimal below 100. */
export function rate(value: number): string {
  return Math.abs(value) < 100 && value !== 0 ? value.toFixed(1) : count(value);
}

/** `1 miss`, `1,204 misses`. */
export function amount(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Digits with a comma every three. */
function group(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** 93.4%, 100%, or a dash without data. */
export function percent(value: number | null): string {
  if (value === null) return '–';
  return value === 1 ? '100%' : `${(value * 100).toFixed(1)}%`;
}

/** D+HH:MM:SS, as Varnish shows uptimes. */
export function uptime(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  const p = (n: number): string => String(n).padStart(2, '0');
  return `${Math.floor(s / DAY)}+${p(Math.floor(s / HOUR) % 24)}:${p(Math.floor(s / MINUTE) % 60)}:${p(s % 60)}`;
}

/** 850µs, 12.3ms, 1.25s, 2m05s, 3h12m, 5d04h. */
export function duration(seconds: number): string {
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)}µs`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(seconds < 0.1 ? 1 : 0)}ms`;
  if (seconds < 59.5) return `${seconds.toFixed(seconds < 9.995 ? 2 : 0)}s`;
  if (seconds < MINUTE) return '1m00s';
  const p = (n: number): string => String(Math.floor(n)).padStart(2, '0');
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m${p(seconds % 60)}s`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h${p((seconds / MINUTE) % 60)}m`;
  return `${Math.floor(seconds / DAY)}d${p((seconds / HOUR) % 24)}h`;
}

/** An age or a period that grows: whole seconds, as a clock has them. */
export function age(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return whole < MINUTE ? `${whole}s` : duration(whole);
}

/** HH:MM:SS in UTC or local time. */
export function clock(epochSeconds: number, utc: boolean): string {
  const d = shown(epochSeconds, utc);
  return `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}:${two(d.getUTCSeconds())}`;
}

/** The same, with the day in front for times more than twenty hours ago. */
export function dated(epochSeconds: number, now: number, utc: boolean): string {
  const time = clock(epochSeconds, utc);
  if (now - epochSeconds < 20 * HOUR) return time;
  const d = shown(epochSeconds, utc);
  return `${two(d.getUTCMonth() + 1)}-${two(d.getUTCDate())} ${time}`;
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}

/** A time of the zone, in the UTC members of a date. */
function shown(epochSeconds: number, utc: boolean): Date {
  return utc ? new Date(epochSeconds * 1000) : localTime(epochSeconds).date;
}
