// The manager's way to the config compiler: loaded when first needed, options from the parameters.
//
// A program that imports extensions from files is compiled twice: the first time tells which, a process of its own
// describes each (daemon/extensions/load/describe.ts), and the second time knows their signatures. Host names are
// treated alike: asked for between two rounds, so that nothing here waits for a name server.

import { lookup } from 'node:dns/promises';
import type { DescribedModule, ImportWish } from '../contract/wish.ts';
import type { ModuleCache, ModuleDescriber } from '../extensions/load/describe.ts';
import type { StorageSpec } from '../link.ts';
import type { Params } from '../params/parameter-set.ts';
import type { CompileOptions, CompileResult } from '../vcl/compile.ts';
import type { Compile, SourceText } from './program-host.ts';

/** No copies, and extensions describe themselves as this user. */
const NO_CACHE: ModuleCache = { directory: null, inUse: () => [], account: null };

/**
 * @param labels names that `return (vcl(...))` may use
 * @param cache where copies of extensions' files are kept, and who describes them
 */
export function makeCompile(
  params: Params,
  storages: readonly StorageSpec[],
  labels: () => readonly string[],
  cache: ModuleCache = NO_CACHE,
): Compile {
  const compile = makeCompiler(params, storages, labels, cache);
  return async (source) => {
    const [result, { formatDiagnostics }] = await Promise.all([
      compile(source),
      import('../vcl/diagnostics.ts'),
    ]);
    if (result.program !== undefined) {
      const { program, warnings } = result;
      const notes = warnings.length === 0 ? '' : `${formatDiagnostics(warnings)}(That was just a warning)\n`;
      return { program, notes };
    }
    return `${formatDiagnostics(result.errors)}Running VCC-compiler failed, exited with 2\nVCL compilation failed`;
  };
}

/**
 * The compiler with its findings as data.
 * @param addresses addresses of a host name; asks the system by default
 */
export function makeCompiler(
  params: Params,
  storages: readonly StorageSpec[],
  labels: () => readonly string[],
  cache: ModuleCache = NO_CACHE,
  addresses: (name: string) => Promise<string[]> = addressesOf,
): (source: SourceText) => Promise<CompileResult> {
  let describer: ModuleDescriber | null = null;
  let { child } = cache;
  const describe = async (wish: ImportWish): Promise<DescribedModule> => {
    const { describerCode, ModuleDescriber } = await import('../extensions/load/describe.ts');
    describer ??= new ModuleDescriber();
    child ??= describerCode();
    return describer.describe(wish, { path: params.text('vmod_path').split(':'), cache, child });
  };
  return async (source) => {
    const { compile } = await import('../extensions/compile-with-builtins.ts');
    const described = new Map<string, DescribedModule>();
    const names = new Map<string, string[]>();
    const unknown = new Set<string>();
    const options: CompileOptions = {
      resolveHost: (name) => {
        const known = names.get(name);
        if (known === undefined) unknown.add(name);
        return known ?? [];
      },
      ...(source.reader ?? { vclPath: params.text('vcl_path').split(':') }),
      unsafePath: params.bool('vcc_unsafe_path'),
      outside: (wish) => described.get(wishKey(wish)),
      errUnref: params.bool('vcc_err_unref'),
      profile: params.num('http_profile') === 1 ? 'rfc9111' : 'classic',
      storages: storages.map((s) => s.name).filter((name) => name !== 'Transient'),
      labels: labels(),
    };
    let result = compile(source, options);
    // Ends: every round answers wishes that no later round has.
    while (unknown.size > 0 || (result.wishes !== undefined && result.wishes.length > 0)) {
      const wishes = new Map(result.wishes?.map((w) => [wishKey(w), w]));
      const asked = [...unknown];
      unknown.clear();
      await Promise.all([
        ...[...wishes].map(async ([key, w]) => described.set(key, await describe(w))),
        ...asked.map(async (name) => names.set(name, await addresses(name))),
      ]);
      result = compile(source, options);
    }
    return result;
  };
}

/** Addresses of a host name, empty when it has none or no server answers. */
async function addressesOf(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true }).catch(() => []);
  return found.map((a) => a.address);
}

function wishKey(wish: ImportWish): string {
  return JSON.stringify([wish.name, wish.from]);
}

/** The program that -b stands for. */
export function backendProgram(backend: string): string {
  if (backend.toLowerCase() === 'none') return 'vcl 4.1;\n\nbackend default none;\n';
  if (backend.startsWith('/')) {
    return `vcl 4.1;\n\nbackend default {\n    .path = ${vclString(backend)};\n}\n`;
  }
  const m = /^(?:\[([^\]]+)\]|([^:]*))(?::(.*))?$/s.exec(backend);
  // An IPv6 address without brackets has colons of its own.
  const host = m === null ? backend : (m[1] ?? m[2] ?? '');
  const port = m?.[3];
  const lines = [`    .host = ${vclString(host === '' && port !== undefined ? 'localhost' : host)};`];
  if (port !== undefined) lines.push(`    .port = ${vclString(port)};`);
  return `vcl 4.1;\n\nbackend default {\n${lines.join('\n')}\n}\n`;
}

function vclString(text: string): string {
  return `"${text.replaceAll('"', '')}"`;
}
