// The state of one compilation: symbols, hoisted constants, subs with the variables they use and the subs they call.
// Filled by the checker, read by the code generator. One object per compilation.

import { type Changes, changesOf } from '../../../protocol/tables/release-changes.ts';
import type {
  DescribedModule,
  Extension,
  ExtensionLookup,
  ExtensionObject,
  ImportRequest,
  OutsideLookup,
} from '../../contract/extension.ts';
import { type BackendDecl, type ProbeDecl, STATES } from '../../contract/program.ts';
import type { Reporter, Span } from '../diagnostics.ts';
import type { Message } from '../error-texts.ts';
import type { TracePoints } from '../parse-statement.ts';
import { type Code, named, type Steps } from '../typed-program.ts';
import { PemFiles } from './pem-files.ts';
import { parseSignature, type Signature } from './signature.ts';

export const ALL_STATES = (1 << STATES.length) - 1;

export function stateMask(states: readonly string[]): number {
  let mask = 0;
  for (const s of states) {
    const i = (STATES as readonly string[]).indexOf(s);
    if (i >= 0) mask |= 1 << i;
  }
  return mask;
}

/** A construct in a sub that is legal in some states only. */
interface Restriction {
  mask: number;
  message: (sub: string) => Message;
  span: Span;
  hint?: string | ((sub: string) => string);
}

export interface SubInfo {
  name: string;
  /** Position of its first definition; null for a state the program lacks. */
  span: Span;
  /** Its definitions, in the order in which they run. */
  parts: { span: Span; body: Steps }[];
  restrictions: Restriction[];
  calls: { name: string; span: Span }[];
  /** Headers, as "owner.field" in lower case; '*' if unknown. */
  reads: Set<string>;
  writes: Set<string>;
  /** Variables other than headers. */
  readsVariables: Set<string>;
  writesVariables: Set<string>;
  /** Actions that it returns. */
  returns: Set<string>;
  /** Messages that it rolls back. */
  restores: Set<'req' | 'bereq'>;
  /** Whether the user's files define a part of it. */
  user: boolean;
  builtin: boolean;
  used: boolean;
}

/** Declarations of the generated program, before its subs. */
type Declared =
  | { k: 'constant'; name: string; code: Code }
  /** An object that vcl_init makes. */
  | { k: 'object'; name: string };

/** A sub before it is checked. */
export function emptySub(name: string, span: Span): SubInfo {
  return {
    name,
    span,
    parts: [],
    restrictions: [],
    calls: [],
    reads: new Set(),
    writes: new Set(),
    readsVariables: new Set(),
    writesVariables: new Set(),
    returns: new Set(),
    restores: new Set(),
    user: false,
    builtin: false,
    used: false,
  };
}

export type Sym =
  | { kind: 'backend'; name: string; span: Span; used: boolean; decl: BackendDecl }
  | { kind: 'acl'; name: string; span: Span; used: boolean }
  | { kind: 'probe'; name: string; span: Span; used: boolean; decl: ProbeDecl }
  | { kind: 'sub'; name: string; span: Span; used: boolean }
  | { kind: 'vmod'; name: string; span: Span; used: boolean; extension: Extension }
  | {
      kind: 'object';
      name: string;
      span: Span;
      used: boolean;
      extension: string;
      type: string;
      object: ExtensionObject;
    };

export class ProgramModel {
  readonly reporter: Reporter;
  readonly extensions: ExtensionLookup;
  readonly storages: readonly string[];
  readonly labels: readonly string[];
  readonly resolveHost: (name: string) => string[];
  readonly symbols = new FoldedMap<Sym>();
  readonly subs = new FoldedMap<SubInfo>();
  readonly imports: string[] = [];
  readonly backends: BackendDecl[] = [];
  defaultBackend: string | null = null;
  /** `probe default`, for the backends declared after it that have none. */
  defaultProbe: ProbeDecl | null = null;
  /** Language version of the program, 40 or 41. */
  syntax = 41;
  /** Names declared anywhere in the program, for forward references. */
  readonly declared = new FoldedMap<'backend' | 'acl' | 'sub' | 'probe'>();
  /** First spelling of each header: "req content-type" → "Content-Type". */
  readonly spelling = new Map<string, string>();
  /** Names of the builtin program's subs, to which a program may add parts. */
  readonly builtinSubs = new Set<string>();
  /** Labels that `return (vcl(…))` names, for vcl.deps. */
  readonly labelsUsed = new Set<string>();
  /** Subs that are used as values. */
  readonly subValues = new Set<string>();
  /** The texts of VCL_trace records, by the block or the `if` they belong to. */
  trace: TracePoints | null = null;
  /** Number of call sites with private data. */
  callPlaces = 0;
  /** Outside extensions: known descriptions, those imported, and requests for missing ones. */
  outside: OutsideLookup | null = null;
  readonly modules: (DescribedModule & { problem?: undefined })[] = [];
  readonly importRequests: ImportRequest[] = [];
  /** Names of failed imports and objects, so that their uses are not reported, too. */
  readonly brokenNames = new Set<string>();
  unsafePath = true;
  /** Certificates and keys that backends name. */
  pem = new PemFiles({});
  isOffline = false;
  /** Its flags where releases of Varnish differ. */
  changes: Changes = changesOf('7.1');
  extensionNames: readonly string[] = [];
  /** Names that the program calls unused (`unused NAME;`), with where it does. */
  readonly intended = new FoldedMap<Span>();
  /** Names that were used before their declaration. */
  readonly forwardUses = new Set<string>();
  readonly #hoisted = new Map<string, Code>();
  /** The regular expressions that compiled. */
  readonly regexes = new Map<string, Code>();
  /** Parsed signatures by text. */
  readonly signatures = new Map<string, Signature>();
  readonly #prologue: Declared[] = [];
  #serial = 0;

  constructor(
    reporter: Reporter,
    extensions: ExtensionLookup,
    storages: readonly string[],
    labels: readonly string[],
    resolveHost: (name: string) => string[],
  ) {
    this.reporter = reporter;
    this.extensions = extensions;
    this.storages = storages;
    this.labels = labels;
    this.resolveHost = resolveHost;
  }

  /** Whether a sub is the entry of a state. */
  isState(name: string): boolean {
    return name.startsWith('vcl_') && (STATES as readonly string[]).includes(name.slice(4));
  }

  /** Hoists a constant and returns its name; equal code shares a name. */
  hoist(prefix: string, code: Code): Code & { k: 'name' } {
    const key = JSON.stringify(code);
    const known = this.#hoisted.get(key);
    if (known?.k === 'name') return known;
    const name = named(`${prefix}_${this.#serial++}`);
    this.#hoisted.set(key, name);
    this.#prologue.push({ k: 'constant', name: name.name, code });
    return name;
  }

  signature(text: string): Signature {
    let known = this.signatures.get(text);
    if (known === undefined) {
      known = parseSignature(text);
      this.signatures.set(text, known);
    }
    return known;
  }

  declare(declared: Declared): void {
    this.#prologue.push(declared);
  }

  prologue(): readonly Declared[] {
    return this.#prologue;
  }

  /** A sub's name as first written; those of states and of the builtin program in lower case. */
  subName(name: string): string {
    return /^vcl_/i.test(name) ? name.toLowerCase() : this.declared.nameOf(name);
  }

  sub(name: string, span: Span): SubInfo {
    let info = this.subs.get(name);
    if (info === undefined) {
      info = emptySub(name, span);
      this.subs.set(name, info);
    }
    return info;
  }
}

/** The generated name of a named declaration. */
export function generatedName(kind: 'sub' | 'acl' | 'obj' | 'value', name: string): string {
  return `${kind}_${name.toLowerCase().replace(/[^A-Za-z0-9_]/g, (c) => `$${c.charCodeAt(0).toString(16)}`)}`;
}

// A map with case-insensitive keys, as names of VCL are: `call Helper` finds `sub helper`. Iteration yields each name
// as first written.

class FoldedMap<V> {
  readonly #entries = new Map<string, [name: string, value: V]>();

  get(name: string): V | undefined {
    return this.#entries.get(name.toLowerCase())?.[1];
  }

  has(name: string): boolean {
    return this.#entries.has(name.toLowerCase());
  }

  /** The first spelling of a name; the name itself if unknown. */
  nameOf(name: string): string {
    return this.#entries.get(name.toLowerCase())?.[0] ?? name;
  }

  set(name: string, value: V): void {
    const key = name.toLowerCase();
    const known = this.#entries.get(key);
    if (known === undefined) this.#entries.set(key, [name, value]);
    else known[1] = value;
  }

  values(): V[] {
    return Array.from(this.#entries.values(), (e) => e[1]);
  }

  keys(): string[] {
    return Array.from(this.#entries.values(), (e) => e[0]);
  }

  [Symbol.iterator](): IterableIterator<[string, V]> {
    return this.#entries.values();
  }
}
