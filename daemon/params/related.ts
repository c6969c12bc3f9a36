// Parameters that are two names of one thing: the bits of vcc_feature are also parameters of their own, as they were in
// Varnish 7.1.

import type { ParamName } from '../../protocol/tables/params.ts';
import type { ParamValue } from '../link.ts';

interface Values {
  get(name: ParamName): ParamValue;
}

/** Called with a new value; sets what follows from it. */
type Follow = (value: ParamValue, values: Values, set: (name: ParamName, value: ParamValue) => void) => void;

/** Bits of vcc_feature that have a parameter. */
const VCC_BITS = [
  { bit: 'err_unref', param: 'vcc_err_unref' },
  { bit: 'unsafe_path', param: 'vcc_unsafe_path' },
] as const satisfies readonly { bit: string; param: ParamName }[];

/** Parameters by the names that they had in Varnish 7.1. */
export const ALIASES: ReadonlyMap<string, ParamName> = new Map(
  VCC_BITS.map(({ param }) => [param, 'vcc_feature']),
);

function bitFrom(bit: string): Follow {
  return (value, values, set) => {
    const words = wordsOf(values).filter((word) => word.slice(1) !== bit);
    const all = value === true ? [...words, `+${bit}`].sort(inOrder) : words;
    set('vcc_feature', all.length === 0 ? 'none' : all.join(','));
  };
}

/** The order in which bits are shown. */
const ORDER = ['err_unref', 'allow_inline_c', 'unsafe_path'];
const inOrder = (a: string, b: string): number => ORDER.indexOf(a.slice(1)) - ORDER.indexOf(b.slice(1));

function wordsOf(values: Values): string[] {
  const text = String(values.get('vcc_feature'));
  return text === 'none' ? [] : text.split(',');
}

export const RELATED: Readonly<Record<string, Follow>> = {
  vcc_feature: (_value, values, set) => {
    const words = wordsOf(values);
    for (const { bit, param } of VCC_BITS) set(param, words.includes(`+${bit}`));
  },
  ...Object.fromEntries(VCC_BITS.map(({ bit, param }) => [param, bitFrom(bit)])),
};
