// Values of parameters as texts: as the daemon reads them back, when two are equal, and the one that the console needs
// itself: the longest text of a log record.

import { LONGEST_BY_DEFAULT } from '../log/looked-up.ts';
import { type AdminStore, answerItems, textField } from './admin-store.ts';

/** A value as param.set takes it: JSON has numbers and booleans where the daemon has words. */
export function parameterText(value: unknown): string {
  if (value === true) return 'on';
  if (value === false) return 'off';
  // The three numbers of a pool, which are one text.
  if (typeof value === 'object' && value !== null) return Object.values(value).join(',');
  return value === null || value === undefined ? '' : String(value);
}

/** Equality of values: 64k and 65536, 120 and 120.000. */
export function sameValue(a: string, b: string): boolean {
  return a === b || (sizeOf(a) !== null && sizeOf(a) === sizeOf(b));
}

/** The number, in bytes for sizes; null for other texts. */
function sizeOf(text: string): number | null {
  const m = /^(-?\d+(?:\.\d+)?)([bkmgtp]?)b?$/i.exec(text.trim());
  if (m === null) return null;
  const power = ['', 'k', 'm', 'g', 't', 'p'].indexOf((m[2] ?? '').toLowerCase().replace('b', ''));
  return Number(m[1]) * 1024 ** Math.max(0, power);
}

/** The byte that ends a record is counted in the parameter. */
const END = 1;

/** Bytes of text from which a log record may have been cut: by the instance's vsl_reclen once it has answered, by the
 * default until then and in a recording; of two instances the smaller. */
export function longestRecord(admin: AdminStore): number {
  const known = answerItems(admin.once('param.show -j vsl_reclen')).flatMap(
    (item) => sizeOf(textField(item, 'value')) ?? [],
  );
  return known.length === 0 ? LONGEST_BY_DEFAULT : Math.min(...known) - END;
}
