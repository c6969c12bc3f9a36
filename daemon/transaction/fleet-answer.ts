// What the fleet has of a program's invalidations, as the program and its client learn it: the reply in words, a log record,
// and 504 in place of an answer that would say that all is well.

import { RETURN, RETURNS } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { VclContext } from '../contract/context.ts';
import type { FleetReceipt } from '../contract/invalidation.ts';
import { fleetFailure, fleetReply } from '../contract/invalidation.ts';
import { type ReturnCode, STATES, State } from '../contract/program.ts';

const GATEWAY_TIMEOUT = 504;
const MAY_SYNTH: ReadonlySet<string> = new Set(RETURNS.find(({ name }) => name === 'synth')?.states);

/** The code with which the state ends. */
export function afterPublishing(
  ctx: VclContext,
  stateId: number,
  code: ReturnCode,
  receipts: readonly FleetReceipt[],
): ReturnCode {
  if (receipts.length === 0) return code;
  for (const receipt of receipts) ctx.log.put(Tag.Notice, `fleet: ${fleetReply(receipt)}`);
  const failed = receipts.find(({ state }) => state !== 'stored');
  ctx.fleetReply = fleetReply(failed ?? (receipts.at(-1) as FleetReceipt));
  if (failed === undefined || ctx.req === null || code === RETURN.fail) return code;
  const reason = fleetFailure(failed);
  if (stateId === State.synth) {
    ctx.req.resp.status = GATEWAY_TIMEOUT;
    ctx.req.resp.reason = reason;
    return code;
  }
  // A state that may not end so says no more than its log record.
  if (!MAY_SYNTH.has(STATES[stateId] ?? '')) return code;
  ctx.synthStatus = GATEWAY_TIMEOUT;
  ctx.synthReason = reason;
  return RETURN.synth as ReturnCode;
}
