// One run of the compiler as plain data, input and output: identical in the manager and in a child process
// (compile-child.ts), down to the text of every message.

import type { DescribedModule, ImportRequest } from '../../contract/extension.ts';
import type { CompiledProgram, OutsideModule } from '../../contract/program.ts';
import { compile } from '../../extensions/compile-with-builtins.ts';
import { checkManifest, describedExtension } from '../../extensions/load/manifest.ts';
import { type Bundle, sourceOf } from '../../fleet/program-bundle.ts';
import type { CompileOptions, CompileResult } from '../../vcl/compile.ts';
import { formatDiagnostics } from '../../vcl/diagnostics.ts';
import type { ReaderOptions } from '../../vcl/include-path.ts';
import type { OwnPrograms } from '../../vcl/own-programs.ts';

/** A compiled program; `notes` holds the compiler's warnings as text, '' without any. */
export interface Compiled {
  program: CompiledProgram;
  notes: string;
}

/** A program's text. */
export interface SourceText {
  name: string;
  text: string;
  /** The only source of included files; without it vcl_path is used. */
  bundle?: Bundle;
}

/** Compiles a program; a string is the compiler's error message. */
export type Compile = (source: SourceText) => Promise<CompiledProgram | Compiled | string>;

/** Compiler options that are plain data. */
export type PlainOptions = Pick<
  CompileOptions,
  'vclPath' | 'unsafePath' | 'errUnref' | 'profile' | 'release' | 'storages' | 'labels' | 'isOffline'
>;

/** Answers to the requests of earlier passes. */
export interface Known {
  /** By requestKey(). */
  readonly described: ReadonlyMap<string, DescribedModule>;
  /** Addresses by host name. */
  readonly names: ReadonlyMap<string, string[]>;
}

/** Requests to answer before the next pass. */
export interface Requests {
  readonly imports: readonly ImportRequest[];
  readonly names: readonly string[];
}

/** The program with the compiler's warnings, or null with its errors. */
export interface Findings {
  readonly program: CompiledProgram | null;
  readonly text: string;
}

/** A pass in another process, where descriptions of extensions have no functions. */
export interface CompileJob {
  readonly source: SourceText;
  readonly options: PlainOptions;
  readonly described: ReadonlyMap<string, { module: OutsideModule } | Refused>;
  readonly names: Known['names'];
  /** Shipped programs, since the package may be replaced meanwhile. */
  readonly own: OwnPrograms;
}

type Refused = Extract<DescribedModule, { problem: string }>;

export type JobAnswer =
  | { readonly findings: Findings; readonly requests: Requests }
  | { readonly thrown: string };

export function requestKey(request: ImportRequest): string {
  return JSON.stringify([request.name, request.from]);
}

/** @param readFile reads included files unless the source has a bundle; default is the file system */
export function compileOnce(
  source: SourceText,
  options: PlainOptions,
  known: Known,
  readFile?: ReaderOptions['readFile'],
): { result: CompileResult; requests: Requests } {
  const names = new Set<string>();
  const reader = source.bundle === undefined ? { readFile } : sourceOf(source.bundle).reader;
  const result = compile(source, {
    ...options,
    ...reader,
    resolveHost: (name) => {
      const addresses = known.names.get(name);
      if (addresses === undefined) names.add(name);
      return addresses ?? [];
    },
    outside: (request) => known.described.get(requestKey(request)),
  });
  return { result, requests: { imports: result.importRequests ?? [], names: [...names] } };
}

export function findingsOf({ program, errors, warnings }: CompileResult): Findings {
  if (program === undefined) {
    const text = `${formatDiagnostics(errors)}Running VCC-compiler failed, exited with 2\nVCL compilation failed`;
    return { program: null, text };
  }
  const text = warnings.length === 0 ? '' : `${formatDiagnostics(warnings)}(That was just a warning)\n`;
  return { program, text };
}

export function makeJob(
  source: SourceText,
  options: PlainOptions,
  { described, names }: Known,
  own: OwnPrograms,
): CompileJob {
  const plain = [...described].map(([key, each]): [string, { module: OutsideModule } | Refused] =>
    each.problem === undefined ? [key, { module: each.module }] : [key, each],
  );
  return { source, options, described: new Map(plain), names, own };
}

export function doJob({ source, options, described, names }: CompileJob): JobAnswer {
  try {
    const known = { described: new Map([...described].map(([key, each]) => [key, revived(each)])), names };
    const { result, requests } = compileOnce(source, options, known);
    return { findings: findingsOf(result), requests };
  } catch (cause) {
    return { thrown: (cause as Error).message };
  }
}

function revived(plain: { module: OutsideModule } | Refused): DescribedModule {
  if ('problem' in plain) return plain;
  const { module } = plain;
  return { module, extension: describedExtension(checkManifest(JSON.parse(module.manifest), module.name)) };
}
