// The record and the counter of something refused: a head, a request, a body.

import {
  type Refusal,
  type RefusedPart,
  refusalCounter,
  refusalText,
} from '../../protocol/tables/refusals.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { MainCounters } from '../stats/counter-fields.ts';

/** Says in the log why this was refused, and counts it. */
export function noteRefusal(
  log: TxLog,
  stats: MainCounters,
  part: RefusedPart,
  name: Refusal,
  place: string,
): void {
  log.put(Tag.Error, refusalText(part, name, place));
  const counter = refusalCounter(name);
  if (counter !== null) stats[counter]++;
}
