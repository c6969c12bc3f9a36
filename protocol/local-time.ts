// Local time as the proxy shows it: in the zone of TZ, or else the system's. JavaScript knows the offsets of named
// zones, but neither their abbreviations (CET, IST) nor POSIX rules. As in the C library, TZ is the name of a file of
// the time zone database, with or without a leading colon, or a rule (posix-zone.ts); empty means UTC. Special case:
// without a database, the offsets of a named zone come from JavaScript, and serve as its abbreviation.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type LocalType, nameOfZone, parsePosixZone, posixTypeAt } from './posix-zone.ts';
import type { WallTime } from './strftime.ts';
import { ZoneFile } from './zone-file.ts';

export interface Zone {
  /** @param seconds since the epoch */
  at(seconds: number): LocalType;
}

const DATABASE = '/usr/share/zoneinfo';
/** The zone of the system, without TZ. */
const SYSTEM = '/etc/localtime';
/** Maximum bytes of a zone file (chosen: the largest has 4 KB). */
const LARGEST = 256 * 1024;
const UTC: Zone = { at: () => ({ offset: 0, name: 'UTC' }) };

let known: { readonly tz: string | undefined; readonly zone: Zone } | null = null;

/** The zone of this process. */
function zone(): Zone {
  const { TZ } = process.env;
  if (known === null || known.tz !== TZ) known = { tz: TZ, zone: zoneOf(TZ, process.env.TZDIR) };
  return known.zone;
}

/** The zone of a TZ value; undefined: the system's. */
export function zoneOf(tz: string | undefined, database = DATABASE): Zone {
  if (tz === '') return UTC;
  if (tz === undefined) return fileOf(SYSTEM) ?? UTC;
  const name = tz.startsWith(':') ? tz.slice(1) : tz;
  const file = name === '' ? null : fileOf(name.startsWith('/') ? name : join(database, name));
  if (file !== null) return file;
  const rule = parsePosixZone(name);
  if (rule !== null) return { at: (seconds) => posixTypeAt(rule, seconds) };
  return byRuntime(name) ?? { at: () => ({ offset: 0, name: nameOfZone(name) }) };
}

/** A time in the zone of this process; `seconds` since the epoch, truncated. */
export function localTime(seconds: number, where = zone()): WallTime {
  const cut = Math.floor(seconds);
  const { offset, name } = where.at(cut);
  return {
    seconds: cut,
    date: new Date((cut + offset) * 1000),
    years: 0,
    offsetMinutes: offset / 60,
    zone: name,
  };
}

/** The time with its offset from UTC: 2026-11-22T23:25:00.123+01:00. */
export function localStamp(at: Date, where = zone()): string {
  const { offset } = where.at(Math.floor(at.getTime() / 1000));
  const local = new Date(at.getTime() + offset * 1000).toISOString().slice(0, -1);
  const two = (n: number): string => String(Math.floor(n)).padStart(2, '0');
  const minutes = Math.abs(offset) / 60;
  return `${local}${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}

function fileOf(path: string): ZoneFile | null {
  let fd = -1;
  try {
    fd = openSync(path, 'r');
    const { size } = fstatSync(fd);
    if (!fstatSync(fd).isFile() || size > LARGEST) return null;
    const bytes = Buffer.alloc(size);
    return ZoneFile.read(bytes.subarray(0, readSync(fd, bytes, 0, size, 0)));
  } catch {
    // No such file, or not readable: fall back.
    return null;
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}

function byRuntime(name: string): Zone | null {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch {
    // RangeError: no such zone.
    return null;
  }
  return {
    at: (seconds) => {
      const parts = format.formatToParts(seconds * 1000);
      const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
      const [, sign = '+', hours = '0', minutes = '0'] = /([+-])(\d+):(\d+)/.exec(text) ?? [];
      const size = (Number(hours) * 60 + Number(minutes)) * 60;
      const name = `${sign}${hours.padStart(2, '0')}${minutes === '00' || minutes === '0' ? '' : minutes}`;
      return { offset: sign === '-' ? -size : size, name };
    },
  };
}
