// The input of a histogram: a tag, a prefix of its text, a field, and powers of ten as limits; by name or by a
// definition [cbE:]tag:[prefix]:field[:min:max].

import { TAGS, Tag, type TagName, tagNamed } from '../../protocol/tables/tags.ts';

export interface Profile {
  /** c client, b backend, E client with ESI subrequests. */
  side: 'c' | 'b' | 'E';
  tag: number;
  /** Empty: any record of the tag. */
  prefix: string;
  /** From 1. */
  field: number;
  /** Powers of ten. */
  min: number;
  max: number;
}

const time = (side: 'c' | 'b', prefix: string): Profile => ({
  side,
  tag: Tag.Timestamp,
  prefix,
  field: 3,
  min: -6,
  max: 3,
});

const size = (side: 'c' | 'b', tag: TagName): Profile => ({
  side,
  tag: Tag[tag],
  prefix: '',
  field: 5,
  min: 1,
  max: 8,
});

/** In the order of the manual. */
export const PROFILES: Readonly<Record<string, Profile>> = {
  responsetime: time('c', 'Process'),
  reqbodytime: time('c', 'ReqBody'),
  size: size('c', 'ReqAcct'),
  Bereqtime: time('b', 'Bereq'),
  Beresptime: time('b', 'Beresp'),
  BerespBodytime: time('b', 'BerespBody'),
  Besize: size('b', 'BereqAcct'),
};

/** The argument of -P; a string is an error. */
export function parseProfile(argument: string): Profile | string {
  if (!argument.includes(':')) {
    const named = Object.hasOwn(PROFILES, argument) ? PROFILES[argument] : undefined;
    return named ?? `-P: No such profile '${argument}'`;
  }
  const sided = /^[cbE]:/.test(argument);
  const side = sided ? (argument[0] as Profile['side']) : 'c';
  const [name = '', prefix, ...rest] = argument.slice(sided ? 2 : 0).split(':');
  if (prefix === undefined) return invalid(argument);
  const tag = tagNamed(name);
  if (typeof tag === 'string') return `-P: '${argument}' is not a valid tag name`;
  const flags: readonly string[] = TAGS[tag - 1]?.flags ?? [];
  if (flags.includes('binary')) {
    return `-P: '${argument}' is an unsafe or binary record`;
  }
  if (rest.length === 0) return invalid(argument);
  const cut = `${sided ? `${side}:` : ''}${name}:${prefix}`;
  const [field, min = -6, max = 3] = rest.map(leadingNumber);
  if (field === undefined || field < 0 || rest.length === 2) return invalid(cut);
  if (Number.isNaN(field) || Number.isNaN(min) || Number.isNaN(max)) return invalid(cut);
  // Invalid limits are clamped, since varnishhist accepts any numbers.
  const top = Math.min(Math.max(max, min + 1), min + 29);
  return { side, tag, prefix, field: Math.max(field, 1), min, max: top };
}

function invalid(text: string): string {
  return `-P: '${text}' is not a valid profile name or definition`;
}

function leadingNumber(text: string): number {
  return Number(/^\s*[+-]?\d+/.exec(text)?.[0] ?? Number.NaN);
}
