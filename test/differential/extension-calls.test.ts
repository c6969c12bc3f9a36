// Imports, calls, objects and subs as values through Varnish's compiler and ours: both take a program or both
// refuse it. The extension is Varnish's own one for tests; ours reads the same signatures from its file.
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Extension, ExtensionFunction, ExtensionObject } from '../../daemon/contract/extension.ts';
import { compile } from '../../daemon/extensions/compile-with-builtins.ts';
import { findExtension } from '../../daemon/extensions/registry.ts';
import { run } from '../harness/processes.ts';
import { inPool, MODE, type Reference, recording, type Told } from './recording.ts';

const HEAD = 'vcl 4.1; import debug; import std; import directors; backend b none; acl ac { "1.2.3.4"; }\n';

/** Bodies of vcl_recv. */
const CALLS: readonly string[] = [
  'debug.argtest("a", 2, "b", "c", 5, "x");',
  'debug.argtest("a", 2, "b", "c", 5, "x", "y");',
  'debug.argtest("a", two = 3, four = 1);',
  'debug.argtest("a", two = 3, "x");',
  'debug.argtest("a", two = 3, nix = "x");',
  'debug.argtest("a", two = 3, two = 4);',
  'debug.argtest("a", one = "b");',
  'debug.argtest(two = 4);',
  'debug.argtest();',
  'debug.argtest(one = req.http.a, opt = req.http.b);',
  'debug.argtest("a", 1 + 2);',
  'debug.argtest("a", "2");',
  'set req.http.x = debug.argtest("a") + debug.author(des);',
  'debug.author(person = nix);',
  'debug.author(person = "des");',
  'debug.author(someone = geoff, person = des);',
  'debug.author(des, geoff);',
  'debug.author(geoff);',
  'debug.author;',
  'debug;',
  'debug.nix();',
  'set req.http.x = debug.fail();',
  'if (debug.fail()) { }',
  'if (debug.fail2() && !debug.fail2()) { }',
  'debug.fail2();',
  'set req.http.x = debug.fail2;',
  'set req.http.x = debug;',
  'debug.test_priv_call(); debug.test_priv_vcl(); debug.test_priv_task("x"); debug.test_priv_top("y");',
  'debug.test_priv_call("x");',
  'set req.http.x = debug.priv_task_with_option(opt = "x") + debug.priv_task_with_option();',
  'debug.rot52(req);',
  'debug.rot52(req.http.x);',
  'debug.sethdr(req.http.x, "a" + req.http.y + 1);',
  'debug.sethdr("x", "a");',
  'set req.http.x = debug.concatenate("a" + req.http.y + now);',
  'if (client.ip ~ debug.acl(ac) && debug.match_acl(ac, client.ip)) { }',
  'if (debug.match_acl(nix, client.ip)) { }',
  'if (debug.null_acl()) { }',
  'set req.http.x = debug.null_acl();',
  'if (req.url ~ debug.just_return_regex("a(b")) { }',
  'if (req.url ~ debug.just_return_regex("ab")) { set req.url = regsub(req.url, debug.just_return_regex("a"), "b"); }',
  'if (req.url ~ debug.just_return_regex(req.url)) { }',
  'debug.store_ip("1.2.3.4"); debug.store_ip(client.ip); set req.http.x = debug.get_ip();',
  'debug.store_ip("nix");',
  'debug.vcl_discard_delay(2s);',
  'debug.vcl_discard_delay(2);',
  'debug.sndbuf(1KB);',
  'debug.sndbuf(1);',
  'debug.call(foo);',
  'debug.call(back);',
  'debug.call(nix);',
  'debug.call(b);',
  'call debug.total_recall();',
  'call debug.fail2();',
  'call debug.total_recall;',
  'set req.http.x = debug.total_recall();',
  'set req.http.x = debug.check_call(foo);',
  'call x.xsub(); x.call(); set req.http.x = o.string() + o.number() + o.date() + o.foo("y") + o.bar("z");',
  'o.enum(phk);',
  'o.enum(nix);',
  'o.enum();',
  'o.nix();',
  'o;',
  'set req.http.x = o;',
  'set req.http.x = o.string;',
  'o.test_priv_call(); o.test_priv_vcl(); o.test_priv_task("x"); o.test_priv_top("x");',
  'if (o.string() == "x" || o.date() > now) { }',
  'set req.http.x = opt.meth_opt("x") + opt.meth_opt(b = true);',
  'set req.backend_hint = dir.backend(); set req.http.x = dir.backend() + "!";',
  'set req.backend_hint = dir.add_backend(b);',
  'dir.add_backend(b);',
  'set req.backend_hint = dir;',
  'new late = debug.obj();',
];

const CALL_MORE = `sub foo { set req.http.foo = "1"; } sub back { set bereq.http.x = "1"; }
sub vcl_backend_fetch { call back; }
sub vcl_init { new o = debug.obj(); new opt = debug.obj_opt(); new dir = directors.round_robin();
  new x = debug.caller(foo); dir.add_backend(b); }
sub vcl_miss { if (client.ip ~ ac) { call foo; } }\n`;

/** Whole programs, after the imports unless they begin with "vcl". */
const PROGRAMS: readonly string[] = [
  'sub vcl_init { new x = debug.obj("a", two); }',
  'sub vcl_init { new x = debug.obj(number = two); new y = debug.obj("b"); }',
  'sub vcl_init { new x = debug.obj(number = four); }',
  'sub vcl_init { new x = debug.obj("a", "two"); }',
  'sub vcl_init { new x = debug.concat("a" + 1 + now); }',
  'sub vcl_init { new x = debug.obj(); new x = debug.obj(); }',
  'sub vcl_init { if (true) { new x = debug.obj(); } else { new y = debug.obj(); } }',
  'sub vcl_init { x.string(); new x = debug.obj(); }',
  'sub vcl_recv { x.string(); } sub vcl_init { new x = debug.obj(); }',
  'sub vcl_init { new b = debug.obj(); }',
  'sub vcl_init { new ac = debug.obj(); }',
  'sub vcl_init { new std = debug.obj(); }',
  'sub vcl_init { new req = debug.obj(); }',
  'sub vcl_init { new x.y = debug.obj(); }',
  'sub vcl_init { new x-y = debug.obj(); }',
  'sub vcl_init { new x = debug.obj; }',
  'sub vcl_init { new x = debug.nix(); }',
  'sub vcl_init { new x = debug.fail(); }',
  'sub vcl_init { new x = nix.obj(); }',
  'sub vcl_init { debug.obj(); }',
  'sub vcl_init { call make; } sub make { new x = debug.obj(); } sub vcl_recv { x.string(); }',
  'sub vcl_init { new x = debug.caller(nix); }',
  'sub vcl_init { new x = debug.aclobj(ac); } sub vcl_recv { if (client.ip ~ x.get()) { } }',
  'sub only { std.log("x"); } sub vcl_init { new x = debug.caller(only); }',
  'sub vcl_backend_fetch { debug.test_priv_top("x"); }',
  'sub vcl_init { debug.test_priv_top("x"); }',
  'sub vcl_backend_response { debug.test_priv_task("x"); }',
  'sub vcl_fini { debug.fail(); }',
  'import std as foo; sub vcl_recv { foo.log("x"); std.log("y"); }',
  'import std; import std; sub vcl_recv { std.log("y"); }',
  'import std as debug;',
  'import std as b;',
  'import std as req;',
  'sub std2 { } import std as std2;',
  'import nix;',
  'import std from "/nix/x.so";',
  'import std from "libvmod_std.so"; sub vcl_recv { std.log("x"); }',
  'sub vcl_recv { call debug; }',
  'sub debug { }',
  'vcl 4.1; import debug as d; backend b none; sub vcl_recv { debug.fail(); }',
  'vcl 4.1; import debug as d; backend b none; sub vcl_recv { d.fail(); }',
  'vcl 4.1; backend b none; sub vcl_recv { debug.fail(); } import debug;',
];

type Described = (string | null | boolean | string[])[];

function signature(name: string, described: unknown[]): string {
  const [[returns], , , ...args] = described as [[string], string, string, ...Described[]];
  const params = args.map(([type, arg, preset, values, optional]) => {
    const text = [
      type,
      Array.isArray(values) ? `{${values.join(', ')}}` : '',
      arg ?? '',
      preset === undefined || preset === null ? '' : `= ${String(preset)}`,
    ];
    const joined = text.filter((t) => t !== '').join(' ');
    return optional === true ? `[${joined}]` : joined;
  });
  return `${returns} ${name}(${params.join(', ')})`;
}

/** The JSON in Varnish's file that describes its extension. */
function rowsOf(file: string): Told[] {
  const text = readFileSync(file, 'latin1');
  const from = text.lastIndexOf('[', text.lastIndexOf('[', text.indexOf('"$VMOD"')) - 1);
  const rows = JSON.parse(text.slice(from, text.indexOf('\0', from)).replace(/[^\]]*$/, '')) as Told[][];
  return rows.filter(([kind]) => ['$FUNC', '$OBJ', '$ALIAS'].includes(String(kind)));
}

/** The extension that these rows describe. */
function described(rows: readonly unknown[][]): Extension {
  const call = (): null => null;
  const functions: Record<string, ExtensionFunction> = {};
  const objects: Record<string, ExtensionObject> = {};
  for (const [kind, name, ...rest] of rows as [string, string, ...unknown[]][]) {
    if (kind === '$FUNC')
      functions[name] = { help: '', signature: signature(name, rest[0] as unknown[]), call };
    if (kind === '$ALIAS') {
      const [object = '', alias = ''] = name.split('.');
      const methods = objects[object]?.methods as Record<string, ExtensionFunction>;
      methods[alias] = methods[String(rest[0]).split('.')[1] ?? ''] as ExtensionFunction;
    }
    if (kind !== '$OBJ') continue;
    const [flags, , ...parts] = rest as [{ NULL_OK?: boolean }, string, ...[string, unknown, unknown[]?][]];
    const methods: Record<string, ExtensionFunction> = {};
    let made = `${name}()`;
    for (const [part, a, b] of parts) {
      if (part === '$INIT') made = signature(name, a as unknown[]);
      if (part === '$METHOD')
        methods[a as string] = { help: '', signature: signature(a as string, b as unknown[]), call };
    }
    objects[name] = {
      help: '',
      signature: made,
      create: () => ({}),
      methods,
      mayBeAbsent: flags.NULL_OK === true,
    };
  }
  return { name: 'debug', help: '', functions, objects };
}

function findFile(): string | null {
  for (const lib of ['/usr/lib', '/usr/local/lib', '/usr/lib64']) {
    if (!existsSync(lib)) continue;
    for (const dir of ['', ...readdirSync(lib)]) {
      const file = join(lib, dir, 'varnish/vmods/libvmod_debug.so');
      if (existsSync(file)) return file;
    }
  }
  return null;
}

/** The signatures of Varnish's extension for tests, and whether Varnish takes each program. */
const signatures = recording('extension-signatures');
const verdicts = recording('extension-calls');

/** Whether Varnish accepts it is known before its C compiler would run; a missing outcome is another error. */
const CHECK_ONLY = ['-C', '-p', 'cc_command=/bin/true'];
const NAMES = [...CALLS, ...PROGRAMS];
const TEXTS = [
  ...CALLS.map((body) => `${HEAD}${CALL_MORE}sub vcl_recv { ${body} }\n`),
  ...PROGRAMS.map((text) =>
    text.startsWith('vcl ') ? text : `${HEAD}sub vcl_miss { if (client.ip ~ ac) { } }\n${text}\n`,
  ),
];
const FILE = MODE === 'replay' ? null : findFile();

describe.skipIf(MODE !== 'replay' && FILE === null)('calls of extensions, as Varnish takes them', () => {
  const dir = mkdtempSync(join(tmpdir(), 'proxyd-calls-'));
  chmodSync(dir, 0o755);
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  let reference: Reference<boolean>;
  let debug: Extension;

  async function taken(text: string, worker: number): Promise<boolean> {
    const name = join(dir, `program${worker}.vcl`);
    writeFileSync(name, text);
    const output = await run('varnishd', [...CHECK_ONLY, '-n', join(dir, `n${worker}`), '-f', name]);
    return !output.stderr.includes('VCC-compiler failed');
  }

  beforeAll(async () => {
    const rows = await signatures.reference(
      new Map([['debug', '']]),
      async () => new Map([['debug', rowsOf(FILE as string)]]),
    );
    debug = described(rows.get('debug') as unknown[][]);
    reference = await verdicts.reference(
      new Map(NAMES.map((name, i) => [name, TEXTS[i] as string])),
      async () => new Map((await inPool(TEXTS, 3, taken)).map((is, i) => [NAMES[i] as string, is])),
    );
  }, 240_000);

  it.each(NAMES.map((name, i) => [name, TEXTS[i] as string]))('%s', (name, text) => {
    const takes = reference.get(name);
    const ours = compile(
      { name: join(dir, 'program.vcl'), text },
      { extensions: (n) => (n === 'debug' ? debug : findExtension(n)) },
    );
    const messages = (ours.errors ?? []).map((e) => e.message).join('; ');
    expect({ taken: ours.program !== undefined, messages }).toEqual({
      taken: takes,
      messages: takes ? '' : expect.any(String),
    });
  });
});
