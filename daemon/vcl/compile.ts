// The compiler's entry: program text in, plain data or diagnostics out. Never throws, whatever the input.
//
// The builtin program is parsed after the user's; subs of the same name that begin with vcl_ are joined in source
// order, so the user's code runs first and the builtin's follows if it did not return.

import { changesOf, type Release } from '../../protocol/tables/release-changes.ts';
import { STATE_GROUPS } from '../../protocol/tables/variables.ts';
import type { ExtensionLookup, ImportRequest, OutsideLookup } from '../contract/extension.ts';
import type { CompiledProgram } from '../contract/program.ts';
import type { Declaration } from './ast.ts';
import { checkAcl } from './check/acls.ts';
import { type HostResolver, systemResolver } from './check/addresses.ts';
import { checkBackend, checkProbe } from './check/backend-declarations.ts';
import { infer } from './check/expressions.ts';
import { importExtension } from './check/imports.ts';
import { isReserved } from './check/language-functions.ts';
import { PemFiles } from './check/pem-files.ts';
import { emptySub, generatedName, ProgramModel, type Sym } from './check/program-model.ts';
import { checkReach, keptHeads, stateFacts } from './check/reach.ts';
import { checkBlock } from './check/statements.ts';
import type { Scope } from './check/type-conversions.ts';
import { generate } from './codegen/generate.ts';
import { CompileStop, type Diagnostic, nearest, Reporter, type Span } from './diagnostics.ts';
import { MESSAGES } from './error-texts.ts';
import { subHint } from './hints.ts';
import { fileReader, type ReaderOptions } from './include-path.ts';
import { builtinText, type Profile } from './own-programs.ts';
import { Parser } from './parser.ts';
import { TokenStream } from './token-stream.ts';

export interface CompileOptions extends ReaderOptions {
  /** Parameter vcc_err_unref: unused declarations are errors. Default true. */
  errUnref?: boolean;
  /** Names of the -s storages besides Transient. Default ['s0']. */
  storages?: readonly string[];
  /** Labels that `return (vcl(…))` may name. */
  labels?: readonly string[];
  resolveHost?: HostResolver;
  /** Extensions by name, and their names for suggestions. Default: none. */
  extensions?: ExtensionLookup;
  extensionNames?: readonly string[];
  /** Descriptions of outside extensions. Default: none. */
  outside?: OutsideLookup;
  /** Parameter vcc_unsafe_path: names of files may hold a "/". Default true. */
  unsafePath?: boolean;
  /** The program is checked on another machine than it is for: missing certificates and keys are warnings. */
  isOffline?: boolean;
  /** Parameter http_profile: profile of the builtin program. Default classic. */
  profile?: Profile;
  /** Parameter varnish_release: whose meaning the program has where releases of Varnish differ. Default 7.1. */
  release?: Release;
  /** Without the builtin program; for tests of the compiler. */
  noBuiltin?: boolean;
}

export type CompileResult =
  | { program: CompiledProgram; warnings: Diagnostic[]; errors?: undefined; importRequests?: undefined }
  /** `importRequests`: imports that `outside` does not describe. Compile again once they are described. */
  | { errors: Diagnostic[]; warnings: Diagnostic[]; importRequests: ImportRequest[]; program?: undefined };

const KIND_NAMES = { backend: 'Backend', acl: 'Acl', probe: 'Probe', sub: 'Subroutine' } as const;

export function compile(source: { name: string; text: string }, options: CompileOptions = {}): CompileResult {
  const reporter = new Reporter();
  const stream = new TokenStream(reporter, fileReader(options));
  stream.unsafePath = options.unsafePath ?? true;
  const changes = changesOf(options.release ?? '7.1');
  stream.rootedGlobs = changes.rootedGlobs;
  const parser = new Parser(stream);
  stream.open(source.name, source.text);
  parser.program(true);
  const userCount = parser.declarations.length;
  if (options.noBuiltin !== true) {
    stream.open('<builtin>', builtinText(options.profile, options.release));
    parser.program(false);
  }
  const storages = ['Transient', ...(options.storages ?? ['s0'])];
  const model = new ProgramModel(
    reporter,
    options.extensions ?? (() => undefined),
    storages,
    options.labels ?? [],
    options.resolveHost ?? systemResolver(),
  );
  model.outside = options.outside ?? null;
  model.trace = parser.trace;
  model.unsafePath = options.unsafePath ?? true;
  model.pem = new PemFiles(options);
  model.changes = changes;
  model.isOffline = options.isOffline ?? false;
  model.extensionNames = options.extensionNames ?? [];
  if (stream.topSyntax !== 0) model.syntax = stream.topSyntax;
  declareAll(model, parser.declarations);
  for (const d of parser.declarations.slice(userCount)) if (d.k === 'sub') model.builtinSubs.add(d.name.text);
  parser.declarations.forEach((d, i) => {
    try {
      checkDeclaration(model, d, i < userCount);
    } catch (e) {
      if (!(e instanceof CompileStop)) throw e;
    }
  });
  applyDefaultProbe(model);
  if (reporter.errors.length === 0 && model.backends.length === 0) {
    const file = stream.files[0] as (typeof stream.files)[number];
    reporter.error(
      MESSAGES.noBackend(),
      { file, start: 0, end: 0 },
      'If all backends are made in vcl_init, write: backend default none;',
    );
  }
  if (reporter.errors.length === 0) checkReach(model, options.errUnref ?? true);
  if (reporter.errors.length > 0) {
    return { errors: reporter.errors, warnings: reporter.warnings, importRequests: model.importRequests };
  }
  const { pieces, positions } = generate(model);
  const program: CompiledProgram = {
    pieces,
    positions,
    files: stream.files.map((f) => ({ name: f.name, text: f.text })),
    backends: model.backends,
    defaultBackend: model.defaultBackend,
    facts: stateFacts(model),
    keeps: keptHeads(model),
    syntax: stream.topSyntax,
    release: options.release ?? '7.1',
    imports: model.imports,
    modules: model.modules.map((m) => m.module),
    labels: [...model.labelsUsed],
  };
  if (model.pem.texts.size > 0) program.pem = Object.fromEntries(model.pem.texts);
  return { program, warnings: reporter.warnings };
}

/** The default probe applies to all backends without one, wherever it is declared; of several the last one counts. */
function applyDefaultProbe(model: ProgramModel): void {
  const { defaultProbe } = model;
  if (defaultProbe === null) return;
  for (const decl of model.backends) {
    if (decl.none === true) continue;
    if (decl.probe === undefined || decl.probe.name === defaultProbe.name) decl.probe = defaultProbe;
  }
}

/** Registers all names before the checks, because of forward references. */
function declareAll(model: ProgramModel, declarations: readonly Declaration[]): void {
  for (const d of declarations) {
    if (d.k === 'import' || d.k === 'unused') continue;
    const name = model.subName(d.name.text);
    if (d.k === 'probe' && name.toLowerCase() === 'default') continue;
    if (!model.declared.has(name)) model.declared.set(name, d.k);
  }
  const backends = declarations.flatMap((d) => (d.k === 'backend' ? [d.name.text] : []));
  model.defaultBackend = backends.includes('default') ? 'default' : (backends[0] ?? null);
}

const ALL_VCL_SUBS = new Set((STATE_GROUPS.all ?? []).map((s) => `vcl_${s}`));

function checkDeclaration(model: ProgramModel, d: Declaration, user: boolean): void {
  switch (d.k) {
    case 'import':
      importExtension(model, d);
      return;
    case 'sub':
      checkSub(model, d, user);
      return;
    case 'unused':
      model.intended.set(d.name.text, d.name.span);
      return;
    case 'backend': {
      claim(model, d.name.text, d.name.span, 'backend');
      const decl = checkBackend(declarationScope(model, d.name.span), d);
      model.backends.push(decl);
      define(model, { kind: 'backend', name: decl.name, span: d.name.span, used: false, decl });
      return;
    }
    case 'probe': {
      if (d.name.text === 'default') {
        model.defaultProbe = checkProbe(
          declarationScope(model, d.name.span),
          'default',
          d.fields,
          d.name.span,
        );
        return;
      }
      claim(model, d.name.text, d.name.span, 'probe');
      const decl = checkProbe(declarationScope(model, d.name.span), d.name.text, d.fields, d.name.span);
      define(model, { kind: 'probe', name: d.name.text, span: d.name.span, used: false, decl });
      return;
    }
    case 'acl': {
      claim(model, d.name.text, d.name.span, 'acl');
      const name = generatedName('acl', d.name.text);
      model.declare({ k: 'constant', name, code: checkAcl(model, d) });
      define(model, { kind: 'acl', name: d.name.text, span: d.name.span, used: false });
      return;
    }
  }
}

function define(model: ProgramModel, sym: Sym): void {
  model.symbols.set(sym.name, sym);
}

/** Reports a name that is taken or reserved. */
function claim(model: ProgramModel, name: string, span: Span, kind: 'backend' | 'acl' | 'probe'): void {
  const { reporter } = model;
  if (/^vcl_/i.test(name)) reporter.fail(MESSAGES.reservedNames(), span);
  if (isReserved(name)) reporter.fail(MESSAGES.taken(name), span);
  if (name.toLowerCase() === 'default' && (kind !== 'backend' || name !== 'default')) {
    reporter.fail(MESSAGES.taken(name), span, 'It names the default backend.');
  }
  const before = model.symbols.get(name);
  if (before !== undefined) {
    const message =
      before.kind === kind
        ? MESSAGES.declaredTwice(KIND_NAMES[kind], name)
        : MESSAGES.otherKind(name, before.kind, kind);
    reporter.fail(message, span, undefined, [{ message: 'First definition:', span: before.span }]);
  }
}

function declarationScope(model: ProgramModel, span: Span): Scope {
  return { model, infer, sub: { ...emptySub('', span), user: true, used: true } };
}

function checkSub(model: ProgramModel, d: Extract<Declaration, { k: 'sub' }>, user: boolean): void {
  const { reporter } = model;
  const name = model.subName(d.name.text);
  const known = model.subs.get(name);
  const joinable = model.builtinSubs.has(name) || ALL_VCL_SUBS.has(name);
  if (user && name.startsWith('vcl_') && !joinable) {
    const near = nearest(name, [...ALL_VCL_SUBS]);
    const hint = subHint(name) ?? (near === null ? undefined : `Did you mean '${near}'?`);
    reporter.fail(MESSAGES.reservedSubs(), d.name.span, hint);
  }
  if (isReserved(name) || name.toLowerCase() === 'default') {
    reporter.fail(MESSAGES.taken(name), d.name.span);
  }
  const other = model.symbols.get(name);
  if (other !== undefined) {
    reporter.fail(MESSAGES.otherKind(name, other.kind, 'sub'), d.name.span, undefined, [
      { message: 'First definition:', span: other.span },
    ]);
  }
  if (known !== undefined && !joinable) {
    reporter.fail(MESSAGES.subTwice(name), d.name.span, undefined, [
      { message: 'First definition:', span: known.span },
    ]);
  }
  const sub = model.sub(name, d.name.span);
  if (user) sub.user = true;
  else sub.builtin = true;
  sub.parts.push({ span: d.name.span, body: checkBlock({ model, sub, infer }, d.body) });
}

/** The generated program in the output of `proxyd -C`. */
export function renderProgram(program: CompiledProgram): string {
  const files = program.files.map((f, i) => `//   ${i}: ${f.name}\n`).join('');
  const code = program.pieces.map(({ text }) => text).join('');
  return `// Generated program. A function of (R, B, E, M, N, P, X, S): helpers, backends, extensions.\n// Files:\n${files}\n${code}`;
}
