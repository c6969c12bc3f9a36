// The same small programs through the real compiler and ours: both take them or both refuse them. Each case is
// the body of a state, or a whole program.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { compile } from '../../daemon/vcl/compile.ts';

const CASES: readonly (readonly [string, string])[] = [
  ['recv', 'set req.http.x = 1 + 2 + "a" + now + client.ip + d;'],
  ['recv', 'set req.ttl = 10;'],
  ['recv', 'set req.ttl = 2 * 10s;'],
  ['recv', 'set req.http.x = 10s + 5;'],
  ['recv', 'set req.http.x = 7.5 % 2;'],
  ['recv', 'set req.http.x = 1KB;'],
  ['recv', 'if (now) { }'],
  ['recv', 'if (req.ttl && req.restarts && req.backend_hint && !req.http.x) { }'],
  ['recv', 'if (req.restarts == 1.5) { }'],
  ['recv', 'if (client.ip == "1.2.3.4" && client.ip ~ ac) { }'],
  ['recv', 'if ("1.2.3.4" ~ ac) { }'],
  ['recv', 'if (req.url ~ req.http.x) { }'],
  ['recv', 'if (req.url ~ "(?<=a+)b") { }'],
  ['recv', 'if (req.url ~ "\\Qa.b\\E*+(?>x)(?<n>y)\\k<n>") { }'],
  ['recv', 'if (req.esi_level > 0 == true) { }'],
  ['recv', 'set req.hash_always_miss = req.http.x;'],
  ['recv', 'set req.http.x -= "a";'],
  ['recv', 'set req.http.x = req.http.y.lower().upper() + ("a" + "b").lower();'],
  ['recv', 'set req.http.x = req.http.y.z;'],
  ['recv', 'set req.http."x.y" = """a""" + {"b"};'],
  ['recv', 'return;'],
  ['recv', 'return (synth("x"));'],
  ['recv', 'return (fail("x"));'],
  ['recv', 'return (deliver);'],
  ['recv', 'unset req.url;'],
  ['recv', 'set beresp.ttl = 1s;'],
  ['recv', 'call vcl_hash;'],
  ['recv', 'std.tolower("x");'],
  ['recv', 'set req.http.x = std.integer(s="1", fallback=2) + std.integer(real=1.5);'],
  ['recv', 'set req.http.x = std.integer(foo=1.5);'],
  ['recv', 'std.collect(req.url);'],
  ['recv', 'hash_data("a");'],
  ['recv', 'set req.esi = true;'],
  [
    'recv',
    'if (req.url) { } elsif (req.url) {} elif (req.url) {} elseif (req.url) {} else if (req.url) {} else {}',
  ],
  ['deliver', 'set resp.http.x = obj.hits + obj.ttl + obj.uncacheable; unset resp.http.Via;'],
  ['deliver', 'set resp.http.x = obj.http.foo;'],
  ['backend_response', 'set beresp.ttl *= 1.5; set beresp.grace += 1h; return (pass(10s));'],
  ['backend_fetch', 'set bereq.uncacheable = true;'],
  ['program', 'vcl 4.1; backend d none; sub a { call b; } sub b { call a; } sub vcl_recv { call a; }'],
  ['program', 'vcl 4.1; backend d none; acl x { "1.2.3.4"/24; } sub vcl_recv { if (client.ip ~ x) { } }'],
  [
    'program',
    'vcl 4.1; backend d none; acl x -pedantic +log { "1.2.3.4"/24; ! "::1"; } sub vcl_recv { if (client.ip ~ x) { } }',
  ],
  ['program', 'vcl 4.1; backend d { .host = "127.0.0.1"; .probe = p; } probe p { }'],
  ['program', 'vcl 4.1; backend d { .host = "127.0.0.1"; .port = 80; }'],
  ['program', 'vcl 4.1; probe default { .window = 4; .threshold = 5; } backend d { .host = "127.0.0.1"; }'],
  ['program', 'vcl 4.1; backend d none; sub lonely { }'],
  ['program', 'vcl 4.1; backend d none; sub vcl_foo { }'],
  ['program', 'vcl 4.1; backend d none; sub vcl_req_cookie { if (req.http.cookie !~ "s=") { return; } }'],
  ['program', 'vcl 4.0; vcl 4.1; backend d none;'],
  ['program', 'backend d none;'],
  ['program', 'vcl 4.1;'],
];

const found = spawnSync('varnishd', ['-V']).error === undefined;
if (!found) console.warn('varnishd is not installed: the differential test of the compiler is skipped');
const dir = mkdtempSync(join(tmpdir(), 'vcl-diff-'));
// The real one compiles as another user.
chmodSync(dir, 0o755);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe.skipIf(!found)('the verdict on a program', () => {
  it.each(CASES)('%s: %s', (state, body) => {
    const text =
      state === 'program'
        ? body
        : `vcl 4.1; import std; backend d none; acl ac { "1.2.3.4"; }
sub use { if (client.ip ~ ac) { } } sub vcl_pass { call use; }
sub vcl_${state} { ${body} }\n`;
    const file = join(dir, 'case.vcl');
    writeFileSync(file, text);
    const theirs = spawnSync('varnishd', ['-C', '-n', join(dir, 'n'), '-f', file], { encoding: 'utf8' });
    const ours = compile({ name: file, text });
    expect({ text, accepted: ours.program !== undefined }).toEqual({ text, accepted: theirs.status === 0 });
  });
});
