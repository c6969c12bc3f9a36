// Backends that the program declares, as arguments that say how others are to be reached.

import type { Director, VclContext } from '../contract/context.ts';
import { ExtensionError } from '../contract/failure.ts';
import type { BackendDecl, CompiledProgram } from '../contract/program.ts';

/** Asked for by name with each fetch. */
const tables = new WeakMap<CompiledProgram, ReadonlyMap<string, BackendDecl>>();

function tableOf(compiled: CompiledProgram): ReadonlyMap<string, BackendDecl> {
  let table = tables.get(compiled);
  if (table === undefined) {
    table = new Map(compiled.backends.map((each) => [each.name, each]));
    tables.set(compiled, table);
  }
  return table;
}

/** The declaration of a backend; null for a director, one that was made, and none. */
export function declaredBackend({ vcl }: VclContext, backend: Director): BackendDecl | null {
  const { compiled, directors } = vcl;
  const decl = tableOf(compiled).get(backend.vclName);
  return decl === undefined || decl.none === true || directors.get(decl.name) !== backend ? null : decl;
}

/**
 * The name of the backend whose TLS is to be spoken; null without one.
 * @param call for messages
 * @param port where it is to be spoken
 * @throws ExtensionError
 */
export function tlsBackend(
  ctx: VclContext,
  call: string,
  backend: Director | null,
  port: string | null,
): string | null {
  if (backend === null) return null;
  if (declaredBackend(ctx, backend)?.tls === undefined)
    throw new ExtensionError(`${call}: tls has to be a backend of the program with .ssl = 1`);
  if (port === 'http' || port === '80')
    throw new ExtensionError(`${call}: tls at port ${port}: use port = "https", or another one`);
  return backend.vclName;
}
