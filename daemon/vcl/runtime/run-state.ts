// Runs one state of a loaded program: the call and return records, and the one place where a failure of the
// program is caught. Whatever the program does, the caller gets a return code.

import { RETURN, RETURNS } from '../../../protocol/tables/returns.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../context.ts';
import { type ReturnCode, STATES, type VclProgram } from '../program.ts';
import { VclFailure } from './failure.ts';
import { programPlace } from './place.ts';

const CALL_NAMES: readonly string[] = STATES.map((s) => s.toUpperCase());
const RETURN_NAMES: readonly string[] = RETURNS.map((r) => r.name);

/** Runs a state (an index into STATES) and gives its return code; `fail` when the program failed. */
export function runState(program: VclProgram, stateId: number, ctx: VclContext): ReturnCode {
  ctx.log.put(Tag.VCL_call, CALL_NAMES[stateId] as string);
  ctx.failure = null;
  let code: ReturnCode;
  try {
    code = (program.states[stateId] as (ctx: VclContext) => ReturnCode)(ctx);
  } catch (e) {
    code = failed(program, ctx, e);
  }
  if (ctx.failure !== null || code === 0) code = RETURN.fail;
  ctx.log.put(Tag.VCL_return, RETURN_NAMES[code] as string);
  return code;
}

/** Logs what was thrown; anything but a VclFailure is a bug of ours or of an extension, and is named too. */
function failed(program: VclProgram, ctx: VclContext, e: unknown): ReturnCode {
  const error = e instanceof Error ? e : new Error(String(e));
  const known = error instanceof VclFailure;
  const place = programPlace(program, error);
  const text = known ? error.message : `Internal error: ${error.message}`;
  const shown = known && !error.located ? text : `${text}${place === null ? '' : ` at ${place}`}`;
  ctx.log.put(Tag.VCL_Error, shown);
  ctx.failure = place === null ? text : `${text} at ${place}`;
  return RETURN.fail;
}
