// Is a text a valid value of a parameter, by its row in the parameter table: type, bounds, choices? A preview while
// typing; the daemon decides.

import { PARAMS, type ParamRow } from '../../../protocol/tables/params.ts';
import { TIME_UNIT_NAMES } from '../../../protocol/units.ts';
import type { QueryCheck } from '../../model/ui/field.ts';

const DURATION = new RegExp(`^(\\d*\\.?\\d+)(${TIME_UNIT_NAMES})?$`);
const BYTE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

export function checkParameter(name: string, text: string): QueryCheck {
  const row = (PARAMS as readonly ParamRow[]).find((p) => p.name === name);
  const value = text.trim();
  const message = row === undefined ? '' : problem(row, value);
  return message === ''
    ? { ok: true }
    : { ok: false, from: 0, to: Math.max(1, text.length), message, expected: [] };
}

function problem(row: ParamRow, value: string): string {
  switch (row.type) {
    case 'bool':
      return /^(on|off|yes|no|true|false|enable|disable)$/i.test(value) ? '' : 'on or off';
    case 'choice':
      return (row.choices ?? []).includes(value) ? '' : `one of ${(row.choices ?? []).join(', ')}`;
    case 'uint':
      return /^\d+$/.test(value) || (value === 'unlimited' && row.max === undefined)
        ? bounds(row, Number(value))
        : 'a whole number';
    case 'real':
      return value !== '' && Number.isFinite(Number(value)) ? bounds(row, Number(value)) : 'a number';
    case 'timeout': {
      const m = DURATION.exec(value);
      return m === null ? 'seconds, as 1.5 or 90' : m[2] === undefined ? bounds(row, Number(m[1])) : '';
    }
    case 'bytes': {
      const size = bytesOf(value);
      return size === null ? 'bytes, as 512, 64k or 1.5G' : bounds(row, size);
    }
    case 'bits':
    case 'mask':
      return value === '' || /^(default|none|all|[+-]\w+)([\s,]+(default|none|all|[+-]\w+))*$/.test(value)
        ? ''
        : '+name and -name, separated by commas';
    case 'header':
      return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,126}$/.test(value) ? '' : 'the name of a header';
    default:
      return '';
  }
}

function bytesOf(text: string): number | null {
  const m = /^(\d*\.?\d+)([bkmgt]?)b?$/i.exec(text);
  return m === null ? null : Number(m[1]) * (BYTE_UNITS[(m[2] ?? '').toLowerCase()] ?? 1);
}

function bounds(row: ParamRow, value: number): string {
  const limit = (text: string | undefined): number | null => (text === undefined ? null : bytesOf(text));
  const min = limit(row.min);
  const max = limit(row.max);
  if (min !== null && value < min) return `at least ${row.min}`;
  if (max !== null && value > max) return `at most ${row.max}`;
  return '';
}
