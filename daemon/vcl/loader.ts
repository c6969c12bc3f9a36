// Makes a compiled program runnable: evaluates its generated source with the runtime's helpers and the
// extensions it imports, and runs vcl_init and vcl_fini. The source is trusted only because the manager
// compiled it; this module never compiles program text itself.

import { compileFunction } from 'node:vm';
import { RETURN } from '../../protocol/tables/returns.ts';
import type { ExtensionLookup } from '../extensions/extension.ts';
import { endPrivs } from '../extensions/priv.ts';
import { findExtension } from '../extensions/registry.ts';
import { PARAMETERS } from './codegen.ts';
import type { Director, VclContext } from './context.ts';
import { type CompiledProgram, type ReturnCode, State, type VclProgram } from './program.ts';
import { scriptName } from './runtime/place.ts';
import { runState } from './runtime/run-state.ts';
import { RUNTIME } from './runtime/table.ts';

type States = ((ctx: VclContext) => ReturnCode)[];

/** Loads a program. `directors` holds a Director for every declared backend, `none` ones included. Throws
 * when an extension or a backend is missing. */
export function loadProgram(
  name: string,
  compiled: CompiledProgram,
  directors: Map<string, Director>,
  extensions: ExtensionLookup = findExtension,
): VclProgram {
  const missing = (what: string): never => {
    throw new Error(`Program ${name} needs ${what}, which is not there`);
  };
  const backend = (b: string): Director => directors.get(b) ?? missing(`backend ${b}`);
  const extension = (e: string): NonNullable<ReturnType<ExtensionLookup>> =>
    extensions(e) ?? missing(`extension ${e}`);
  const fn = (e: string, f: string) => (extension(e).functions[f] ?? missing(`function ${e}.${f}`)).call;
  const method = (e: string, o: string, m: string) =>
    (extension(e).objects?.[o]?.methods[m] ?? missing(`method ${e}.${o}.${m}`)).call;
  const make = (e: string, o: string) => (extension(e).objects?.[o] ?? missing(`object ${e}.${o}`)).create;
  const factory = compileFunction(compiled.source, [...PARAMETERS], { filename: scriptName(name) });
  const states = factory(RUNTIME, backend, fn, method, make) as States;
  return {
    name,
    compiled,
    directors,
    defaultDirector: compiled.defaultBackend === null ? null : backend(compiled.defaultBackend),
    privs: new Map(),
    states,
  };
}

/** Runs vcl_init: null when the program may be used, otherwise why not. */
export function initProgram(program: VclProgram, ctx: VclContext): string | null {
  const code = runState(program, State.init, ctx);
  if (code === RETURN.ok) return null;
  return ctx.failure ?? `VCL "${program.name}" failed in vcl_init`;
}

/** Runs vcl_fini. Its failure is only logged: the program goes in any case. */
export function finiProgram(program: VclProgram, ctx: VclContext): void {
  runState(program, State.fini, ctx);
  endPrivs(ctx.priv);
  endPrivs(program.privs);
}
