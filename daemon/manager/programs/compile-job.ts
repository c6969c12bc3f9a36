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

/** A program that compiled; `notes` holds the compiler's warnings as text, '' when there are none. */
export interface Compiled {
  program: CompiledProgram;
  notes: string;
}

/** A program's text. */
export interface SourceText {
  name: string;
  text: string;
  /** Where what it includes is found, and nowhere else; without it vcl_path. */
  bundle?: Bundle;
}

/** Compiles a program text; the string is the compiler's message. */
export type Compile = (source: SourceText) => Promise<CompiledProgram | Compiled | string>;

/** Options of the compiler, as far as they are data. */
export type PlainOptions = Pick<
  CompileOptions,
  'vclPath' | 'unsafePath' | 'errUnref' | 'profile' | 'storages' | 'labels'
>;

/** What runs before have asked for. */
export interface Known {
  /** By wishKey(). */
  readonly described: ReadonlyMap<string, DescribedModule>;
  /** Addresses by host name. */
  readonly names: ReadonlyMap<string, string[]>;
}

/** What has to be known for the next run. */
export interface Asked {
  readonly wishes: readonly ImportRequest[];
  readonly names: readonly string[];
}

/** The program, with the compiler's warnings; or null with its errors. */
export interface Findings {
  readonly program: CompiledProgram | null;
  readonly text: string;
}

/** A run for another process: descriptions of extensions hold no functions there. */
export interface CompileJob {
  readonly source: SourceText;
  readonly options: PlainOptions;
  readonly described: ReadonlyMap<string, { module: OutsideModule } | Refused>;
  readonly names: Known['names'];
  /** The package may be another by now. */
  readonly own: OwnPrograms;
}

type Refused = Extract<DescribedModule, { problem: string }>;

export type JobAnswer = { readonly findings: Findings; readonly asked: Asked } | { readonly thrown: string };

export function wishKey(wish: ImportRequest): string {
  return JSON.stringify([wish.name, wish.from]);
}

/** @param readFile for what it includes, unless it has a bundle; default the file system */
export function compileOnce(
  source: SourceText,
  options: PlainOptions,
  known: Known,
  readFile?: ReaderOptions['readFile'],
): { result: CompileResult; asked: Asked } {
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
    outside: (wish) => known.described.get(wishKey(wish)),
  });
  return { result, asked: { wishes: result.importRequests ?? [], names: [...names] } };
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
    const { result, asked } = compileOnce(source, options, known);
    return { findings: findingsOf(result), asked };
  } catch (cause) {
    return { thrown: (cause as Error).message };
  }
}

function revived(plain: { module: OutsideModule } | Refused): DescribedModule {
  if ('problem' in plain) return plain;
  const { module } = plain;
  return { module, extension: describedExtension(checkManifest(JSON.parse(module.manifest), module.name)) };
}
