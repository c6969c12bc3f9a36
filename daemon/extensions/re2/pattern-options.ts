// The regex options in signatures, and as values: each call passes them in this order.

import type { Options } from './pattern.ts';

const ROWS = [
  'BOOL utf8=0',
  'BOOL posix_syntax=0',
  'BOOL longest_match=0',
  'INT max_mem=8388608',
  'BOOL literal=0',
  'BOOL never_nl=0',
  'BOOL dot_nl=0',
  'BOOL never_capture=0',
  'BOOL case_sensitive=1',
  'BOOL perl_classes=0',
  'BOOL word_boundary=0',
  'BOOL one_line=0',
];

/** For patterns; those of sets cannot capture. */
export const OPTIONS = ROWS.join(', ');
export const SET_OPTIONS = ROWS.filter((each) => !each.includes('never_capture')).join(', ');

/** Values in that order. */
export type RawOptions = readonly (boolean | number)[];

/** @param captures whether never_capture is among them */
export function optionsOf(raw: RawOptions, captures: boolean): Options {
  const all = captures ? raw : [...raw.slice(0, 7), true, ...raw.slice(7)];
  const at = (index: number): boolean => all[index] === true;
  return {
    utf8: at(0),
    posix_syntax: at(1),
    longest_match: at(2),
    max_mem: Number(all[3]),
    literal: at(4),
    never_nl: at(5),
    dot_nl: at(6),
    never_capture: at(7),
    case_sensitive: at(8),
    perl_classes: at(9),
    word_boundary: at(10),
    one_line: at(11),
  };
}
