// How long the text of a log record may be: what is as long may have been cut. It is the instance's own vsl_reclen where
// that is known, and else its default: of a recording nobody can be asked.

import { PARAMS } from '../../protocol/tables/params.ts';
import { type AdminStore, answerItems, textField } from './admin-store.ts';
import { sizeOf } from './parameter-value.ts';

const LINE = 'param.show -j vsl_reclen';
/** The byte that ends a record is counted in the parameter. */
const END = 1;
/** In bytes, where nobody has changed it. */
export const LONGEST_BY_DEFAULT =
  (sizeOf(PARAMS.find(({ name }) => name === 'vsl_reclen')?.default ?? '') ?? 0) - END;

/** In bytes; of two instances the less. What the instance says comes after the first call. */
export function longestRecord(admin: AdminStore): number {
  const told = answerItems(admin.once(LINE)).flatMap((item) => sizeOf(textField(item, 'value')) ?? []);
  return told.length === 0 ? LONGEST_BY_DEFAULT : Math.min(...told) - END;
}
