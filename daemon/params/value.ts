// Parses and formats parameter values by type, with Varnish's error texts.
//
// A parsed value is a number (seconds, bytes, counts, the index of a choice), a boolean or a text in canonical form.
// Parsing never throws: an error is a ParamError. Unlike in Varnish a duration may have a unit (500ms, 5m, 1d), which
// Varnish silently ignores; anything else after the number is an error, and an integer beyond 32 bits is unlimited, not
// its low 32 bits.

import { NEVER, type ParamRow, type ParamType } from '../../protocol/tables/params.ts';
import { TAGS } from '../../protocol/tables/tags.ts';
import { TIME_UNITS } from '../../protocol/units.ts';
import type { ParamValue } from '../link.ts';
import { headerNameProblem } from './header-name.ts';

/** Why a value was refused; `text` is printed as it is, newlines included. */
export class ParamError {
  readonly text: string;
  /** The parameter is read-only, whatever the value. */
  readonly isProtected: boolean;
  constructor(text: string, isProtected = false) {
    this.text = text;
    this.isProtected = isProtected;
  }
}

/** The value of `unlimited` for integers: the maximum. */
export const UNLIMITED = 2 ** 32 - 1;

/** Digits allowed before and after the decimal point, and in an integer (RFC 8941 section 3.3). */
const DIGITS = { whole: 12, fraction: 3, integer: 15 } as const;
const TOO_MANY = 'Too many digits';
const TRUE_WORDS = ['on', 'yes', 'true', 'enable'];
const FALSE_WORDS = ['off', 'no', 'false', 'disable'];
const BYTE_UNITS = 'kmgtp';

/** Parses sizes such as 80k, 1.5M, 128b. Returns bytes, or the error in Varnish's words. */
export function parseBytes(text: string): number | ParamError {
  const m = /^\s*(\d+)(?:\.(\d+))?\s*([a-z]*)\s*$/i.exec(text);
  if (m === null)
    return new ParamError(/^\s*\d+(?!\d*\.(?!\d))/.test(text) ? UNKNOWN_UNIT : 'Invalid number');
  const [, whole = '', fraction = ''] = m;
  const few =
    fraction === ''
      ? whole.length <= DIGITS.integer
      : whole.length <= DIGITS.whole && fraction.length <= DIGITS.fraction;
  if (!few) return new ParamError(TOO_MANY);
  const unit = (m[3] as string).toLowerCase();
  let factor = 1;
  if (unit !== '' && unit !== 'b') {
    const power = BYTE_UNITS.indexOf(unit[0] as string) + 1;
    if (power === 0 || !(unit.length === 1 || (unit.length === 2 && unit[1] === 'b')))
      return new ParamError(UNKNOWN_UNIT);
    factor = 1024 ** power;
  }
  const bytes = Number(`${whole}.${fraction}`) * factor;
  if (factor === 1 && !Number.isInteger(bytes)) return new ParamError('Fractional BYTES not allowed');
  return Math.min(Math.floor(bytes), Number.MAX_SAFE_INTEGER);
}
const UNKNOWN_UNIT = 'Unknown BYTES unit of measurement ([KMGTP][B])';

/** Formats a size in the largest exact unit, such as 64k, 0.25k, 65537b. */
export function formatBytes(bytes: number): string {
  if (bytes === 0 || bytes % 256 !== 0) return `${bytes}b`;
  let n = bytes;
  for (const letter of 'kMGTPEZY') {
    if (n % 1024 !== 0) return `${(n / 1024).toFixed(2)}${letter}`;
    n /= 1024;
    if (n % 256 !== 0) return `${n}${letter}`;
  }
  return `${bytes}b`;
}

/** Seconds with milliseconds; further digits are dropped. */
function parseDuration(text: string): number | ParamError {
  const m = /^\s*(-?)(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*$/.exec(text);
  const factor = m === null ? undefined : TIME_UNITS.get(m[3] || 's');
  if (m === null || factor === undefined) return new ParamError(`Invalid number (${text})\n`);
  const [, sign = '', number = ''] = m;
  const [whole = '', fraction = ''] = number.split('.');
  if (whole.length > DIGITS.whole) return new ParamError(`${TOO_MANY} (${text})\n`);
  const seconds = Number(`${sign}${whole}.${fraction.slice(0, DIGITS.fraction)}0`) * factor;
  return seconds === 0 ? 0 : seconds;
}

/** As strtoul(3): signed, decimal, octal with a leading 0 or hexadecimal with 0x. */
function parseWhole(row: ParamRow, text: string): number | ParamError {
  if (text.toLowerCase() === 'unlimited') return UNLIMITED;
  if (text === '' && row.min !== undefined) return new ParamError(`Illegal Min: ${row.min}\n`);
  const m = /^\s*([+-]?)(0x[0-9a-f]+|0[0-7]*|[1-9]\d*)$/i.exec(text);
  if (m === null) return new ParamError(`Not a number (${text})\n`);
  const [, sign = '', digits = ''] = m;
  const n = /^0[0-7]/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
  // A negative number wraps around.
  return sign === '-' && n !== 0 ? Math.max(0, UNLIMITED + 1 - n) : Math.min(n, UNLIMITED);
}

/** The signed names of a bit set or mask, separated by commas or spaces; none for an empty text. */
function signedNames(text: string): string[] {
  return text.trim() === '' ? [] : text.trim().split(/\s*,\s*|\s+/);
}

function unsigned(word: string): ParamError | null {
  return /^[+-]/.test(word) ? null : new ParamError(`Missing '+' or '-' (${word})\n`);
}

/** `none` and `all` discard the names before them. @param old signed names */
function parseBits(row: ParamRow, text: string, old: readonly string[]): string | ParamError {
  if (text === 'default' && row.default !== 'none') return row.default;
  const signs = new Map(old.map((word) => [word.slice(1), word[0]]));
  for (const word of signedNames(text)) {
    if (word === 'none') signs.clear();
    if (word === 'all') for (const { name } of row.bits ?? []) signs.set(name, '+');
    if (word === 'none' || word === 'all') continue;
    const refused = unsigned(word);
    if (refused !== null) return refused;
    const bit = row.bits?.find((b) => b.name === word.slice(1).toLowerCase());
    if (bit === undefined) return new ParamError(`Unknown ${row.name} bit (${word})\n`);
    if (word[0] === '+' || bit.keepsMinus === true) signs.set(bit.name, word[0]);
    else signs.delete(bit.name);
  }
  const names = (row.bits ?? []).filter((b) => signs.has(b.name)).map((b) => `${signs.get(b.name)}${b.name}`);
  return names.length === 0 ? 'none' : names.join(',');
}

/** The signed names of a canonical text. */
function wordsOf(text: string): string[] {
  return text === 'none' ? [] : text.split(',');
}

/** The enabled bits in a canonical text. */
export function bitsOf(_row: ParamRow, text: string): string[] {
  return wordsOf(text).flatMap((word) => (word[0] === '+' ? [word.slice(1)] : []));
}

/** The tags that a canonical vsl_mask text excludes. */
export function maskedTags(text: string): string[] {
  return text === '' || text === 'none' ? [] : text.split(',').map((t) => t.slice(1));
}

/** `all` writes every tag and `none` no one, wherever they stand. */
function parseMask(row: ParamRow, text: string, old: string): string | ParamError {
  const words = text === 'default' ? [] : signedNames(text);
  const masked = new Set(maskedTags(text === 'default' ? row.default : old));
  for (const word of words) {
    if (word === 'all') masked.clear();
    if (word === 'none') for (const { name } of TAGS) masked.add(name);
    if (word === 'all' || word === 'none') continue;
    const refused = unsigned(word);
    if (refused !== null) return refused;
    const name = word.slice(1).toLowerCase();
    const tag = TAGS.find((t) => t.name.toLowerCase() === name);
    if (tag === undefined) return new ParamError(`Unknown VSL tag (${word})\n`);
    if (word[0] === '-') masked.add(tag.name);
    else masked.delete(tag.name);
  }
  const names = TAGS.filter((t) => masked.has(t.name)).map((t) => `-${t.name}`);
  return names.length === 0 ? 'none' : names.join(',');
}

/** Checks a number against the row's limits; the error texts differ by type as in Varnish. */
function checkBounds(row: ParamRow, value: number): ParamError | null {
  if (value === 0 && row.orZero === true) return null;
  const continuous = row.type === 'timeout' || row.type === 'real';
  const end = row.type === 'bytes' ? '\n\n' : '\n';
  if (row.min !== undefined && value < limitOf(row.type, row.min)) {
    return new ParamError(
      continuous ? `Must be greater or equal to ${row.min}\n` : `Must be at least ${row.min}\n`,
    );
  }
  if (row.max !== undefined && value > limitOf(row.type, row.max)) {
    return new ParamError(
      continuous ? `Must be less than or equal to ${row.max}\n` : `Must be no more than ${row.max}${end}`,
    );
  }
  return null;
}

function limitOf(type: ParamType, text: string): number {
  if (type !== 'bytes') return Number(text);
  const n = parseBytes(text);
  return typeof n === 'number' ? n : 0;
}

/** Parses an operator's value for `row`; `old` is the present value, which bit sets modify. */
export function parseValue(row: ParamRow, text: string, old: ParamValue): ParamValue | ParamError {
  switch (row.type) {
    case 'timeout':
    case 'real': {
      if (row.never === true && text === 'never') return NEVER;
      const n = row.type === 'timeout' ? parseDuration(text) : parseReal(text);
      return typeof n === 'number' ? (checkBounds(row, n) ?? n) : n;
    }
    case 'uint': {
      const n = parseWhole(row, text);
      return typeof n === 'number' ? (checkBounds(row, n) ?? n) : n;
    }
    case 'bytes': {
      const n = parseBytes(text);
      if (typeof n === 'number') return checkBounds(row, n) ?? n;
      return new ParamError(`Could not convert to bytes.\n${n.text}\n  Try something like '80k' or '120M'\n`);
    }
    case 'bool': {
      const word = text.toLowerCase();
      if (TRUE_WORDS.includes(word)) return true;
      if (FALSE_WORDS.includes(word)) return false;
      return new ParamError('use "on" or "off"\n');
    }
    case 'bits':
      return parseBits(row, text, wordsOf(String(old)));
    case 'mask':
      return parseMask(row, text, String(old));
    case 'choice': {
      const choices = row.choices ?? [];
      const n = choices.indexOf(text.toLowerCase());
      return n >= 0 ? n : new ParamError(`Must be one of: ${choices.join(', ')}\n`);
    }
    case 'header':
      return parseHeaderName(text);
    case 'string':
    case 'storage':
      return text;
  }
}

/** A canonical text of bits or tags as Varnish shows it since 7.7: what all or none of them are, and what differs. */
export function formatSet(row: ParamRow, text: string): string {
  if (row.type === 'mask') {
    const masked = maskedTags(text).length;
    return masked === 0 ? 'all' : masked === TAGS.length ? 'none' : `all,${text}`;
  }
  const words = wordsOf(text);
  if (words.length === 0) return 'none';
  const isAll = words.length === row.bits?.length && words.every((word) => word[0] === '+');
  return isAll ? 'all' : `none,${text}`;
}

function parseHeaderName(text: string): string | ParamError {
  const problem = headerNameProblem(text);
  return problem === null ? text : new ParamError(`${problem}\n`);
}

function parseReal(text: string): number | ParamError {
  const m = /^\s*[+-]?(\d*)(\.\d*)?\s*$/.exec(text);
  if (m === null || !/\d/.test(text)) return new ParamError(`Invalid number (${text})\n`);
  if ((m[1] as string).length > DIGITS.whole) return new ParamError(`${TOO_MANY} (${text})\n`);
  return Number(text);
}

/** A value in the format of param.show, without its unit. */
export function formatValue(row: ParamRow, value: ParamValue): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string') return value;
  switch (row.type) {
    case 'timeout':
      return value >= NEVER ? 'never' : value.toFixed(3);
    case 'bytes':
      return formatBytes(value);
    case 'uint':
      return value === UNLIMITED ? 'unlimited' : String(value);
    case 'choice':
      return row.choices?.[value] ?? '';
    default:
      return String(value);
  }
}
