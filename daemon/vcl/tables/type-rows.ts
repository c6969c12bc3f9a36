// The types of the language: literals, conversion to strings and conditions, units, and members. The checker reads
// everything except the sentences.

import { TIME_UNITS } from '../../../protocol/units.ts';

/**
 * @param literal a value in VCL; '' for types without literals
 * @param text its conversion to a STRING; '' for types that have none
 * @param truth when it is true as a condition; '' for types that cannot be one
 */
const row = <N extends string>(name: N, literal: string, text: string, truth: string, help: string) => ({
  name,
  literal,
  text,
  truth,
  help,
});

// biome-ignore format: a row is a line
export const TYPES = [
  row('STRING', '"text" or {"text"} or """text"""', 'itself', 'it is set, also if empty',
    'Text, as bytes. "…" stands on one line; {"…"} and """…""" may span lines and contain quotes. A backslash is an ordinary character.'),
  row('STRINGS', '"a" + req.url', 'its parts joined', 'any part is set', 'Strings joined with +; unset parts count as empty.'),
  row('BOOL', 'true or false', 'true or false', 'it is true', 'A truth value.'),
  row('INT', '42', 'its digits', 'it is not 0', 'A whole number of at most 15 digits.'),
  row('REAL', '1.5', 'with three decimals', '', 'A number with up to 12 digits before the point and 3 after it.'),
  row('BYTES', '10MB', 'its number of bytes', '', 'A size: a number and a unit.'),
  row('DURATION', '90s', 'seconds with three decimals', 'it is more than 0', 'A span of time: a number and a unit.'),
  row('TIME', 'now', 'a date as in HTTP headers', '', 'A point in time. There is no literal: take `now`, another variable or std.time().'),
  row('IP', '"192.0.2.1"', 'the address', '', 'An address, IPv4 or IPv6. A string literal becomes one where an IP is needed.'),
  row('ACL', 'its name', 'its name', '', 'An acl of the program, for matching with ~.'),
  row('BACKEND', 'its name, default or none', 'its name', 'it is not none', 'A backend or a director. `default` is the default backend.'),
  row('PROBE', 'its name', '', '', 'A probe of the program. Its name is text where a STRING is expected.'),
  row('HEADER', 'req.http.Name', 'the header’s value', 'the header exists',
    'A header by its name, for functions that change it. Names that are no words stand in quotes: req.http."x.y" (4.1).'),
  row('HTTP', 'req, bereq, beresp or resp', '', '', 'A whole message, as an argument of functions.'),
  row('STEVEDORE', 'storage.NAME', 'storage.NAME', '', 'A storage of -s.'),
  row('BLOB', ':aGVsbG8=:', 'base64 between colons', '', 'Bytes.'),
  row('BODY', '', '', '', 'The body of a message: set from a STRING or a BLOB, never read.'),
  row('REGEX', '"^/news/"', '', '', 'A regular expression. It must be a literal, because it is compiled when the program is loaded.'),
  row('SUB', 'its name', '', '', 'A sub of the program, as an argument of functions.'),
  row('ENUM', 'a word', 'the word', '', 'One of the words that a function lists for an argument.'),
  row('VCL', '', '', '', 'A program, as a label of vcl.label names it.'),
  row('VOID', '', '', '', 'No value: the result of functions that are called as statements.'),
] as const;

export type Type = (typeof TYPES)[number]['name'];

type UnitRow = {
  readonly unit: string;
  /** In bytes or seconds. */
  readonly size: number;
  readonly help: string;
};

/** In lower case; case does not matter. */
export const BYTE_UNIT_ROWS: readonly UnitRow[] = [
  { unit: 'b', size: 1, help: 'Bytes.' },
  ...[
    ['k', 'KiB'],
    ['m', 'MiB'],
    ['g', 'GiB'],
    ['t', 'TiB'],
    ['p', 'PiB'],
  ].flatMap(([letter = '', name = ''], i) =>
    [letter, `${letter}b`].map((unit) => ({
      unit,
      size: 1024 ** (i + 1),
      help: `${name}, 1024 to the power of ${i + 1}.`,
    })),
  ),
];

const TIME_NAMES: Readonly<Record<string, string>> = {
  ms: 'Milliseconds.',
  s: 'Seconds.',
  m: 'Minutes.',
  h: 'Hours.',
  d: 'Days.',
  w: 'Weeks.',
  y: 'Years of 365 days.',
};

/** Case matters. */
export const TIME_UNIT_ROWS: readonly UnitRow[] = [...TIME_UNITS].map(([unit, size]) => ({
  unit,
  size,
  help: TIME_NAMES[unit] ?? '',
}));

/** @param call whether it is called with parentheses */
const member = (of: Type, name: string, call: boolean, gives: Type, help: string) => ({
  of,
  name,
  call,
  gives,
  help,
});

// biome-ignore format: a row is a line
export const MEMBERS = [
  member('STRING', 'lower', true, 'STRING', 'The text with A to Z as small letters; other bytes stay.'),
  member('STRING', 'upper', true, 'STRING', 'The text with a to z as capitals; other bytes stay.'),
  member('BACKEND', 'resolve', true, 'BACKEND', 'The backend that a director would choose now.'),
  member('STEVEDORE', 'free_space', false, 'BYTES', 'Free space of the storage.'),
  member('STEVEDORE', 'used_space', false, 'BYTES', 'Used space of the storage.'),
  member('STEVEDORE', 'happy', false, 'BOOL', 'Whether the storage takes objects.'),
];

/** A member of a type, property or method. */
export function memberOf(type: Type, name: string): (typeof MEMBERS)[number] | undefined {
  return MEMBERS.find((m) => m.of === type && m.name === name);
}
