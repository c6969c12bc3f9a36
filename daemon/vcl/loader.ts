// Makes a compiled program runnable: evaluates its generated source with the runtime's helpers and the extensions it
// imports, and runs vcl_init and vcl_fini. The source is trusted only because the manager compiled it; no program
// text is compiled here.

import { compileFunction } from 'node:vm';
import { changesOf } from '../../protocol/tables/release-changes.ts';
import { RETURN } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { Director, ExtensionEvent, ProgramObject, VclContext, VclProgram } from '../contract/context.ts';
import type { Extension, ExtensionLookup, ExtensionObject } from '../contract/extension.ts';
import { VclFailure } from '../contract/failure.ts';
import { endPrivs, type Priv, type PrivMap, privCell, programPriv } from '../contract/priv.ts';
import { type CompiledProgram, type ReturnCode, STATES, State } from '../contract/program.ts';
import type { WaitingState } from '../contract/waiting.ts';
import { PARAMETERS } from './codegen/generate.ts';
import { runInit, runState, scriptName } from './runtime/run-state.ts';
import { RUNTIME } from './runtime/table.ts';

type States = ((ctx: VclContext) => ReturnCode)[];

/** Loads a program in steps. `directors` holds a Director for every declared backend, `none` ones included. Throws
 * when an extension or a backend is missing. */
export function* loadSteps(
  name: string,
  compiled: CompiledProgram,
  directors: Map<string, Director>,
  extensions: ExtensionLookup,
): Generator<true, VclProgram> {
  const missing = (what: string): never => {
    throw new Error(`Program ${name} needs ${what}, which is not there`);
  };
  const used = new Map<string, Extension>();
  const extension = (e: string): Extension => {
    const found = used.get(e) ?? extensions(e) ?? missing(`extension ${e}`);
    used.set(e, found);
    return found;
  };
  const privs: PrivMap = new Map();
  const objects: ProgramObject[] = [];
  const preparations: (() => boolean)[] = [];
  const none = new Set(compiled.backends.filter((b) => b.none === true).map((b) => b.name));
  const backend = (b: string): Director | null => {
    const found = directors.get(b) ?? missing(`backend ${b}`);
    return none.has(b) ? null : found;
  };
  const fn = (e: string, f: string) => (extension(e).functions[f] ?? missing(`function ${e}.${f}`)).call;
  const method = (e: string, o: string, m: string) =>
    (extension(e).objects?.[o]?.methods[m] ?? missing(`method ${e}.${o}.${m}`)).call;
  const make = (e: string, o: string): ExtensionObject['create'] => {
    const object = extension(e).objects?.[o] ?? missing(`object ${e}.${o}`);
    return (ctx, objectName, ...args) => {
      const self = object.create(ctx, objectName, ...args);
      const { destroy, prepare } = object;
      if (destroy !== undefined) objects.push({ self, destroy });
      if (prepare !== undefined) preparations.push(() => prepare(self));
      return self;
    };
  };
  const priv = (e: string | null): Priv => privCell(privs, e === null ? {} : extension(e));
  for (const e of compiled.imports) extension(e);
  const regexes: ReturnType<typeof RUNTIME.regex>[] = [];
  const regex = (pattern: string): ReturnType<typeof RUNTIME.regex> => {
    const made = RUNTIME.regex(pattern);
    regexes.push(made);
    return made;
  };
  const helpers = { ...RUNTIME, regex };
  const shared = {};
  let states: States = [];
  for (const [i, { text, line }] of compiled.pieces.entries()) {
    if (i > 0) yield true;
    const piece = compileFunction(text, [...PARAMETERS], { filename: scriptName(name), lineOffset: line });
    states = piece(helpers, backend, fn, method, make, priv, extension, shared) as States;
  }
  return {
    name,
    compiled,
    changes: changesOf(compiled.release),
    directors,
    defaultDirector: compiled.defaultBackend === null ? null : backend(compiled.defaultBackend),
    makeBackend: null,
    privs,
    extensions: [...used.values()],
    regexes,
    objects,
    preparations,
    states,
    positions: numbersOf(compiled.positions),
    isPlain: STATES.map((state) => compiled.facts[`vcl_${state}`]?.builtinOnly === true),
    waiting: states.map((state) => (state as Partial<WaitingState<VclContext>>).steps ?? null),
  };
}

/** The same in one go. */
export function loadProgram(...args: Parameters<typeof loadSteps>): VclProgram {
  for (const steps = loadSteps(...args); ; ) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function numbersOf(base64: string): Int32Array {
  const bytes = Buffer.from(base64, 'base64');
  // A short one lies somewhere in a buffer that others share.
  return new Int32Array(Uint8Array.from(bytes).buffer);
}

/** Notifies the program's extensions of an event; returns null, or the first refusal. */
export function programEvent(program: VclProgram, event: ExtensionEvent, ctx: VclContext): string | null {
  let refusal: string | null = null;
  for (const e of program.extensions) {
    if (e.event === undefined) continue;
    let text: string | undefined;
    try {
      text = e.event(ctx, event, programPriv(ctx, e));
    } catch (error) {
      text = (error as Error).message;
    }
    if (text === undefined) continue;
    ctx.log.put(Tag.VCL_Error, `${e.name}: ${text}`);
    refusal ??= `${e.name}: ${text}`;
    if (event === 'load' || event === 'warm') break;
  }
  return refusal;
}

/** Runs vcl_init in steps; returns null if the program may be used, or the reason why not. */
export function* initSteps(program: VclProgram, ctx: VclContext): Generator<void, string | null> {
  const refusal = programEvent(program, 'load', ctx);
  if (refusal !== null) return refusal;
  const code = yield* runInit(program, ctx);
  endPrivs(ctx.priv);
  if (code !== RETURN.ok) return ctx.failure ?? `VCL "${program.name}" failed in vcl_init`;
  try {
    for (const proceed of program.preparations) while (proceed()) yield;
  } catch (error) {
    if (error instanceof VclFailure) return error.message;
    throw error;
  }
  return null;
}

/** Runs vcl_init without interruption. */
export function initProgram(program: VclProgram, ctx: VclContext): string | null {
  for (const steps = initSteps(program, ctx); ; ) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Releases the resources of a program. */
function abandonProgram(program: VclProgram, ctx: VclContext): void {
  endPrivs(ctx.priv);
  for (const o of program.objects.reverse()) guarded(ctx, () => o.destroy(o.self));
  program.objects.length = 0;
  guarded(ctx, () => endPrivs(program.privs));
  programEvent(program, 'discard', ctx);
}

/** Runs vcl_fini. Its failure is only logged: the program is discarded in any case. */
export function finiProgram(program: VclProgram, ctx: VclContext): void {
  runState(program, State.fini, ctx);
  abandonProgram(program, ctx);
}

function guarded(ctx: VclContext, action: () => void): void {
  try {
    action();
  } catch (error) {
    ctx.log.put(Tag.VCL_Error, (error as Error).message);
  }
}
