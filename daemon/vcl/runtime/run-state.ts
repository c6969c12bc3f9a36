// Runs one state of a loaded program: the VCL_call and VCL_return records, and the only place where a failure of the
// program is caught. The caller always gets a return code.

import { RETURN, RETURNS } from '../../../protocol/tables/returns.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { StateSteps, VclContext, VclProgram } from '../../contract/context.ts';
import { VclFailure } from '../../contract/failure.ts';
import { type ReturnCode, STATES, State } from '../../contract/program.ts';
import { Waiting, withoutWaiting } from '../../contract/waiting.ts';
import { PreparedRecords } from '../../log/tx-log.ts';
import { hasFeature } from './limits.ts';
import { SubReturned } from './sub-value.ts';

const CALLS = STATES.map((s) => new PreparedRecords([[Tag.VCL_call, s.toUpperCase()]]));
const RETURNED = RETURNS.map((r) => new PreparedRecords([[Tag.VCL_return, r.name]]));

/** Runs a state (an index into STATES) and returns its code; `fail` if the program failed. */
export function runState(program: VclProgram, stateId: number, ctx: VclContext): ReturnCode {
  ctx.log.putConstant(CALLS[stateId] as PreparedRecords);
  ctx.failure = null;
  ctx.tracing = traced(ctx);
  ctx.state = stateId;
  let code: ReturnCode;
  try {
    code = (program.states[stateId] as (ctx: VclContext) => ReturnCode)(ctx);
  } catch (e) {
    code = e instanceof SubReturned ? e.code : failed(program, ctx, e);
  }
  if (ctx.failure !== null || code === 0) code = RETURN.fail;
  ctx.log.putConstant(RETURNED[code] as PreparedRecords);
  return code;
}

/** Runs a state that may wait: returns its code, or null if it waits, and then calls `later` with the code. The
 * records are those of runState(). */
export function runWaitingState(
  program: VclProgram,
  stateId: number,
  steps: StateSteps,
  ctx: VclContext,
  later: (code: ReturnCode) => void,
): ReturnCode | null {
  ctx.log.putConstant(CALLS[stateId] as PreparedRecords);
  ctx.failure = null;
  ctx.tracing = traced(ctx);
  ctx.state = stateId;
  const running = steps(ctx);
  const ended = (returned: ReturnCode): ReturnCode => {
    const code = ctx.failure !== null || returned === 0 ? RETURN.fail : returned;
    ctx.log.putConstant(RETURNED[code] as PreparedRecords);
    return code;
  };
  type Resumption = () => IteratorResult<unknown, ReturnCode>;
  const proceed = (from: Resumption): ReturnCode | null => {
    let next: Resumption = from;
    try {
      for (;;) {
        const { done, value } = next();
        if (done === true) return ended(value as ReturnCode);
        if (!(value instanceof Waiting)) {
          next = () => running.next(value);
          continue;
        }
        let atOnce: Resumption | null = null;
        let parked = false;
        const resume = (how: Resumption): void => {
          if (!parked) {
            atOnce = how;
            return;
          }
          const code = proceed(how);
          if (code !== null) later(code);
        };
        value.start(
          (v) => resume(() => running.next(v)),
          (e) => resume(() => running.throw(e)),
        );
        if (atOnce === null) {
          parked = true;
          return null;
        }
        next = atOnce;
      }
    } catch (e) {
      return ended(e instanceof SubReturned ? e.code : failed(program, ctx, e));
    }
  };
  return proceed(() => running.next());
}

/** Runs vcl_init, a long one in steps: its functions are synchronous, so whatever it yields is such a step. */
export function* runInit(program: VclProgram, ctx: VclContext): Generator<void, ReturnCode> {
  const steps = program.waiting[State.init] ?? null;
  if (steps === null) return runState(program, State.init, ctx);
  ctx.log.putConstant(CALLS[State.init] as PreparedRecords);
  ctx.failure = null;
  ctx.tracing = traced(ctx);
  ctx.state = State.init;
  let code: ReturnCode;
  try {
    code = yield* withoutWaiting(steps(ctx));
  } catch (e) {
    code = e instanceof SubReturned ? e.code : failed(program, ctx, e);
  }
  if (ctx.failure !== null || code === 0) code = RETURN.fail;
  ctx.log.putConstant(RETURNED[code] as PreparedRecords);
  return code;
}

/** Whether the task's statements are logged: as the program has set it, else by the feature or the mask of the log. */
function traced(ctx: VclContext): boolean {
  const set = ctx.req === null ? ctx.bo?.trace : ctx.req.settings.trace;
  return set ?? (ctx.vcl.changes.traceOnRequest ? hasFeature(ctx, 'trace') : ctx.log.wants(Tag.VCL_trace));
}

/** Logs an exception; anything but a VclFailure is a bug of ours or of an extension, and its position is logged,
 * too. */
function failed(program: VclProgram, ctx: VclContext, e: unknown): ReturnCode {
  const error = e instanceof Error ? e : new Error(String(e));
  const known = error instanceof VclFailure;
  const place = programPlace(program, error);
  const text = known ? error.message : `Internal error: ${error.message}`;
  const shown = known && !error.located ? text : `${text}${place === null ? '' : ` at ${place}`}`;
  // A task fails once: consequences in the same statement are not logged, except defects.
  if (ctx.failure === null || !known) ctx.log.put(Tag.VCL_Error, shown);
  ctx.failure ??= shown;
  return RETURN.fail;
}

// Finds the line of the VCL program that an error came from, by the stack trace of the generated code.

/** Name of the generated script of a program, as stack traces show it. */
export function scriptName(program: string): string {
  return `vcl:${program}`;
}

/** "'file' Line 3 Pos 5", or null if the error did not pass through generated code. */
export function programPlace(program: VclProgram, error: Error): string | null {
  if (error.stack === undefined) return null;
  const at = error.stack.indexOf(`${scriptName(program.name)}:`);
  if (at < 0) return null;
  const line = Number.parseInt(error.stack.slice(at + scriptName(program.name).length + 1), 10);
  const { positions } = program;
  // The last one that is not after the line.
  let found = -1;
  for (let end = positions.length / 4; end - found > 1; ) {
    const middle = (found + end) >> 1;
    if ((positions[4 * middle] as number) > line) end = middle;
    else found = middle;
  }
  if (found < 0) return null;
  const [, index, row, column] = positions.subarray(4 * found, 4 * found + 4);
  const file = program.compiled.files[index as number]?.name ?? '?';
  return `'${file}' Line ${row} Pos ${column}`;
}
