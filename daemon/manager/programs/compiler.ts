// The manager's interface to the VCL compiler: loaded when first needed, configured from the parameters. Large programs
// are compiled in a child process (compiler-processes.ts).
//
// A program that imports extensions from files is compiled twice: the first pass finds the imports, a child process
// describes each (daemon/extensions/load/describe.ts), and the second pass knows their signatures. Host names are
// resolved between passes in the same way, so that nothing here blocks on a name server.

import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { RELEASES } from '../../../protocol/tables/release-changes.ts';
import type { DescribedModule, ImportRequest } from '../../contract/extension.ts';
import type { ModuleCopies, ModuleDescriber } from '../../extensions/load/describe.ts';
import type { Params } from '../../params/parameter-set.ts';
import type { CompileResult } from '../../vcl/compile.ts';
import { ownPrograms } from '../../vcl/own-programs.ts';
import { sourceText } from '../../vcl/source-text.ts';
import type { Compile, Findings, Known, PlainOptions, Requests, SourceText } from './compile-job.ts';
import type { CompilerProcesses } from './compiler-processes.ts';

/** No copies, and extensions are described as the present user. */
const NO_CACHE: ModuleCopies = { directory: null, inUse: () => [], account: null };
const NO_REQUESTS: Requests = { imports: [], names: [] };

/** Reads at most a number of characters. */
class LimitedReader {
  /** The limit was exceeded: the result of the compiler is incomplete. */
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
 * Creates the compiler.
 * @param labels names that `return (vcl(...))` may use
 * @param cache where copies of extension files are kept, and the account that describes them
 * @param processes compile large programs; without them everything is compiled here
 */
export function makeCompile(
  params: Params,
  storages: readonly { readonly name: string }[],
  labels: () => readonly string[],
  cache: ModuleCopies = NO_CACHE,
  processes: CompilerProcesses | null = null,
): Compile {
  const resolver = makeResolver(params, cache, addressesOf);
  return async (source) => {
    const options = optionsOf(params, storages, labels);
    const { compileOnce, findingsOf, makeJob } = await import('./compile-job.ts');
    const limit = processes === null ? Number.POSITIVE_INFINITY : processes.largestInline;
    let isLarge = lengthOf(source) > limit;
    const { program, text } = await inPasses<Findings>(async (known) => {
      if (!isLarge) {
        const limited = new LimitedReader(limit - source.text.length);
        const { result, requests } = compileOnce(source, options, known, limited.read);
        isLarge = limited.exceeded;
        if (!isLarge) return { outcome: findingsOf(result), requests };
      }
      const answer = await processes?.run(makeJob(source, options, known, ownPrograms()));
      if (answer === undefined || typeof answer === 'string') {
        return { outcome: { program: null, text: answer ?? '' }, requests: NO_REQUESTS };
      }
      if ('thrown' in answer) throw new Error(answer.thrown);
      return { outcome: answer.findings, requests: answer.requests };
    }, resolver);
    return program === null ? text : { program, notes: text };
  };
}

/**
 * Creates a compiler that returns its findings as data, for programs that are not run here.
 * @param addresses resolves a host name
 */
export function makeCompiler(
  params: Params,
  storages: readonly { readonly name: string }[],
  labels: () => readonly string[],
  cache: ModuleCopies,
  addresses: (name: string) => Promise<string[]>,
): (source: SourceText) => Promise<CompileResult> {
  const resolver = makeResolver(params, cache, addresses);
  return async (source) => {
    const options = { ...optionsOf(params, storages, labels), isOffline: true };
    const { compileOnce } = await import('./compile-job.ts');
    return inPasses(async (known) => {
      const { result, requests } = compileOnce(source, options, known);
      return { outcome: result, requests };
    }, resolver);
  };
}

function optionsOf(
  params: Params,
  storages: readonly { readonly name: string }[],
  labels: () => readonly string[],
): PlainOptions {
  return {
    vclPath: params.text('vcl_path').split(':'),
    unsafePath: params.bool('vcc_unsafe_path'),
    errUnref: params.bool('vcc_err_unref'),
    profile: params.num('http_profile') === 1 ? 'rfc9111' : 'classic',
    release: RELEASES[params.num('varnish_release')] ?? '7.1',
    storages: storages.map((s) => s.name).filter((name) => name !== 'Transient'),
    labels: [...labels()],
  };
}

/** Characters of a program, as far as known before it is compiled. */
function lengthOf({ text, bundle }: SourceText): number {
  return bundle === undefined ? text.length : bundle.files.reduce((sum, file) => sum + file.text.length, 0);
}

interface Resolver {
  describe(request: ImportRequest): Promise<DescribedModule>;
  addresses(name: string): Promise<string[]>;
}

function makeResolver(params: Params, cache: ModuleCopies, addresses: Resolver['addresses']): Resolver {
  let describer: ModuleDescriber | null = null;
  let { child } = cache;
  return {
    addresses,
    describe: async (request) => {
      const { describerCode, ModuleDescriber } = await import('../../extensions/load/describe.ts');
      describer ??= new ModuleDescriber();
      child ??= describerCode();
      return describer.describe(request, { path: params.text('vmod_path').split(':'), cache, child });
    },
  };
}

/** Repeats the compilation until it makes no new request. */
async function inPasses<T>(
  run: (known: Known) => Promise<{ outcome: T; requests: Requests }>,
  { describe, addresses }: Resolver,
): Promise<T> {
  const described = new Map<string, DescribedModule>();
  const names = new Map<string, string[]>();
  const { requestKey } = await import('./compile-job.ts');
  // Terminates: a request is made in one pass only.
  for (;;) {
    const { outcome, requests } = await run({ described, names });
    if (requests.imports.length === 0 && requests.names.length === 0) return outcome;
    const imports = new Map(requests.imports.map((w) => [requestKey(w), w]));
    await Promise.all([
      ...[...imports].map(async ([key, w]) => described.set(key, await describe(w))),
      ...requests.names.map(async (name) => names.set(name, await addresses(name))),
    ]);
  }
}

/** Addresses of a host name; none if it has none or no server answers. */
async function addressesOf(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true }).catch(() => []);
  return found.map((a) => a.address);
}

/** Milliseconds after the start of the worker (chosen): who loads a program at once waits for the compiler as long as for
 * a cold one, and a start that is followed by nothing does not compile for a tenth of a second. */
const WARM_UP_AFTER = 5000;
const ROUNDS = 12;
/** Milliseconds between two rounds, for other work. */
const BETWEEN = 2;

const SAMPLE = `vcl 4.1;
import std;
probe health { .url = "/"; .interval = 5s; }
backend one { .host = "127.0.0.1"; .port = "80"; .probe = health; .first_byte_timeout = 30s; }
backend two { .host = "127.0.0.1"; .port = "81"; .max_connections = 50; }
acl inside { "10.0.0.0"/8; ! "10.1.0.0"/16; "127.0.0.1"; }
sub site {
  if (req.http.Host == "www.example.com" && req.url ~ "(?i)^/static/.*\\.(css|js|png)$") {
    unset req.http.Cookie;
    set req.http.X-Kind = "static " + req.method;
  } elsif (client.ip !~ inside || std.integer(req.http.X-Count, 0) > 3) {
    return (synth(403, "No"));
  } else {
    set req.backend_hint = two;
  }
  set req.url = regsuball(req.url, "[?&]utm_[a-z]+=[^&]*", "");
  set req.http.X-When = now + 5m;
  std.log("site: " + req.url);
}
sub vcl_recv {
  call site;
  if (req.restarts == 0 && req.method == "PURGE") { return (purge); }
  if (req.http.Cookie ~ "session=") { return (pass); }
}
sub vcl_hash { hash_data(req.url); }
sub vcl_backend_response {
  if (beresp.status >= 500 && bereq.retries < 2) { return (retry); }
  set beresp.ttl = 5m;
  set beresp.grace = beresp.ttl * 2;
  unset beresp.http.Set-Cookie;
}
sub vcl_deliver {
  if (obj.hits > 0) { set resp.http.X-Cache = "hit " + obj.hits; } else { set resp.http.X-Cache = "miss"; }
}
sub vcl_synth { set resp.body = {"<p>"} + resp.status + {"</p>"}; return (deliver); }
`;

export function warmUp(compile: Compile): void {
  let round = 0;
  const next = (): void => {
    if (round++ >= ROUNDS) return;
    void compile({ name: '<warm-up>', text: SAMPLE }).then(() => setTimeout(next, BETWEEN).unref());
  };
  setTimeout(next, WARM_UP_AFTER).unref();
}
