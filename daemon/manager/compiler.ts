// The manager's way to the config compiler: loaded when first needed, options from the parameters.

import type { StorageSpec } from '../link.ts';
import type { Params } from '../params/params.ts';
import type { Compile } from './programs.ts';

/** `labels`: names that `return (vcl(...))` may use. */
export function makeCompile(
  params: Params,
  storages: readonly StorageSpec[],
  labels: () => readonly string[],
): Compile {
  return async (source) => {
    const [{ compile }, { formatDiagnostics }] = await Promise.all([
      import('../vcl/compile.ts'),
      import('../vcl/errors.ts'),
    ]);
    const result = compile(source, {
      vclPath: params.text('vcl_path').split(':'),
      errUnref: params.bool('vcc_err_unref'),
      storages: storages.map((s) => s.name).filter((name) => name !== 'Transient'),
      labels: labels(),
    });
    if (result.program !== undefined) return result.program;
    return `${formatDiagnostics(result.errors)}Running VCC-compiler failed, exited with 2\nVCL compilation failed`;
  };
}

/** The program that -b stands for. */
export function backendProgram(backend: string): string {
  if (backend === 'none') return 'vcl 4.1;\n\nbackend default none;\n';
  if (backend.startsWith('/')) {
    return `vcl 4.1;\n\nbackend default {\n    .path = ${vclString(backend)};\n}\n`;
  }
  const m = /^(?:\[([^\]]+)\]|([^:]*))(?::(.*))?$/s.exec(backend);
  // An IPv6 address without brackets has colons of its own.
  const host = m === null ? backend : (m[1] ?? m[2] ?? '');
  const port = m?.[3];
  const lines = [`    .host = ${vclString(host === '' ? 'localhost' : host)};`];
  if (port !== undefined) lines.push(`    .port = ${vclString(port)};`);
  return `vcl 4.1;\n\nbackend default {\n${lines.join('\n')}\n}\n`;
}

function vclString(text: string): string {
  return `"${text.replaceAll('"', '')}"`;
}
