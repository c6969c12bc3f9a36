// The manager's way to the config compiler: loaded when first needed, options from the parameters. Large programs are
// compiled by a process of their own (compiler-processes.ts).
//
// A program that imports extensions from files is compiled twice: the first time tells which, a process of its own
// describes each (daemon/extensions/load/describe.ts), and the second time knows their signatures. Host names are
// treated alike: asked for between two rounds, so that nothing here waits for a name server.

import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import type { DescribedModule, ImportRequest } from '../contract/extension.ts';
import type { ModuleCache, ModuleDescriber } from '../extensions/load/describe.ts';
import type { StorageSpec } from '../link.ts';
import type { Params } from '../params/parameter-set.ts';
import type { CompileResult } from '../vcl/compile.ts';
import { ownPrograms } from '../vcl/own-programs.ts';
import { sourceText } from '../vcl/source-text.ts';
import type { Asked, Findings, Known, PlainOptions } from './compile-job.ts';
import type { CompilerProcesses } from './compiler-processes.ts';
import type { Compile, SourceText } from './program-host.ts';

/** No copies, and extensions describe themselves as this user. */
const NO_CACHE: ModuleCache = { directory: null, inUse: () => [], account: null };
const NOTHING: Asked = { wishes: [], names: [] };

/** Reads no more than a number of characters. */
class FewCharacters {
  /** More was asked for: what is compiled lacks a file. */
  exceeded = false;
  private left: number;

  constructor(characters: number) {
    this.left = characters;
  }

  readonly read = (file: string): string => {
    if (this.exceeded) throw new Error('not read');
    const text = sourceText(readFileSync(file));
    this.left -= text.length;
    this.exceeded = this.left < 0;
    if (this.exceeded) throw new Error('not read');
    return text;
  };
}

/**
 * @param labels names that `return (vcl(...))` may use
 * @param cache where copies of extensions' files are kept, and who describes them
 * @param processes compile what is large; without them nothing is
 */
export function makeCompile(
  params: Params,
  storages: readonly StorageSpec[],
  labels: () => readonly string[],
  cache: ModuleCache = NO_CACHE,
  processes: CompilerProcesses | null = null,
): Compile {
  const ask = makeAsk(params, cache, addressesOf);
  return async (source) => {
    const options = optionsOf(params, storages, labels);
    const { compileOnce, findingsOf, makeJob } = await import('./compile-job.ts');
    const limit = processes === null ? Number.POSITIVE_INFINITY : processes.largestInline;
    let isLarge = lengthOf(source) > limit;
    const { program, text } = await inRounds<Findings>(async (known) => {
      if (!isLarge) {
        const few = new FewCharacters(limit - source.text.length);
        const { result, asked } = compileOnce(source, options, known, few.read);
        isLarge = few.exceeded;
        if (!isLarge) return { outcome: findingsOf(result), asked };
      }
      const answer = await processes?.run(makeJob(source, options, known, ownPrograms()));
      if (answer === undefined || typeof answer === 'string') {
        return { outcome: { program: null, text: answer ?? '' }, asked: NOTHING };
      }
      if ('thrown' in answer) throw new Error(answer.thrown);
      return { outcome: answer.findings, asked: answer.asked };
    }, ask);
    return program === null ? text : { program, notes: text };
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
  cache: ModuleCache,
  addresses: (name: string) => Promise<string[]>,
): (source: SourceText) => Promise<CompileResult> {
  const ask = makeAsk(params, cache, addresses);
  return async (source) => {
    const options = optionsOf(params, storages, labels);
    const { compileOnce } = await import('./compile-job.ts');
    return inRounds(async (known) => {
      const { result, asked } = compileOnce(source, options, known);
      return { outcome: result, asked };
    }, ask);
  };
}

function optionsOf(
  params: Params,
  storages: readonly StorageSpec[],
  labels: () => readonly string[],
): PlainOptions {
  return {
    vclPath: params.text('vcl_path').split(':'),
    unsafePath: params.bool('vcc_unsafe_path'),
    errUnref: params.bool('vcc_err_unref'),
    profile: params.num('http_profile') === 1 ? 'rfc9111' : 'classic',
    storages: storages.map((s) => s.name).filter((name) => name !== 'Transient'),
    labels: [...labels()],
  };
}

/** Characters of a program, as far as they are known before it is compiled. */
function lengthOf({ text, bundle }: SourceText): number {
  return bundle === undefined ? text.length : bundle.files.reduce((sum, file) => sum + file.text.length, 0);
}

interface Ask {
  describe(wish: ImportRequest): Promise<DescribedModule>;
  addresses(name: string): Promise<string[]>;
}

function makeAsk(params: Params, cache: ModuleCache, addresses: Ask['addresses']): Ask {
  let describer: ModuleDescriber | null = null;
  let { child } = cache;
  return {
    addresses,
    describe: async (wish) => {
      const { describerCode, ModuleDescriber } = await import('../extensions/load/describe.ts');
      describer ??= new ModuleDescriber();
      child ??= describerCode();
      return describer.describe(wish, { path: params.text('vmod_path').split(':'), cache, child });
    },
  };
}

/** Compiles again and again until nothing is asked for that is not known. */
async function inRounds<T>(
  run: (known: Known) => Promise<{ outcome: T; asked: Asked }>,
  { describe, addresses }: Ask,
): Promise<T> {
  const described = new Map<string, DescribedModule>();
  const names = new Map<string, string[]>();
  const { wishKey } = await import('./compile-job.ts');
  // Ends: every round answers wishes that no later round has.
  for (;;) {
    const { outcome, asked } = await run({ described, names });
    if (asked.wishes.length === 0 && asked.names.length === 0) return outcome;
    const wishes = new Map(asked.wishes.map((w) => [wishKey(w), w]));
    await Promise.all([
      ...[...wishes].map(async ([key, w]) => described.set(key, await describe(w))),
      ...asked.names.map(async (name) => names.set(name, await addresses(name))),
    ]);
  }
}

/** Addresses of a host name, empty when it has none or no server answers. */
async function addressesOf(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true }).catch(() => []);
  return found.map((a) => a.address);
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
