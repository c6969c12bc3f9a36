// Parts of the language that newer releases have removed or made read-only: refused with varnish_release=9.0, found by the
// lint with 7.1. Sources: what 7.7.0 refuses (protected headers, places of req.is_hitmiss, paths of +glob); upgrade notes of
// 8.0 and 9.0 (removed functions and variables).
import { describe, expect, it } from 'vitest';
import { compile } from '../../../../daemon/extensions/compile-with-builtins.ts';
import { parseForLint, runRules } from '../../../../daemon/vcl/lint/lint.ts';
import { RELEASE_RULES } from '../../../../daemon/vcl/lint/rules/releases.ts';
import { RULES } from '../../../../daemon/vcl/lint/rules.ts';
import type { Release } from '../../../../protocol/tables/release-changes.ts';

const FILES: Readonly<Record<string, string>> = { '/etc/inc/a.vcl': 'sub vcl_recv { std.log("a"); }' };
const READER = {
  readFile: (name: string) => FILES[name] ?? '',
  readDir: (name: string) => ({ '/': ['etc'], '/etc': ['inc'], '/etc/inc': ['a.vcl'] })[name] ?? [],
};
const source = (text: string, version = '4.1') => ({
  name: '/etc/main.vcl',
  text: `vcl ${version};\nimport std; import cookie; import std as s;\nbackend d none;\n${text}`,
});

function errors(text: string, release: Release, version?: string): string[] {
  const result = compile(source(text, version), { errUnref: false, release, ...READER });
  return result.errors?.map(({ message, hint }) => `${message} ${hint ?? ''}`) ?? [];
}

function findings(text: string, version?: string): [number, string, string][] {
  const { view } = parseForLint(source(text, version), READER);
  const rules = RULES.filter(({ slug }) => SLUGS.has(slug));
  return runRules(view, rules).map(({ line, code, severity }) => [line, code, severity]);
}

const ROWS: [what: string, text: string, slug: string, error: RegExp, version?: string][] = [
  [
    'setting Content-Length',
    'sub vcl_recv { set req.http.Content-Length = "3"; }',
    'protected-header',
    /cannot be set/,
  ],
  [
    'adding to it',
    'sub vcl_deliver { set resp.http.content-length += "3"; }',
    'protected-header',
    /cannot be set/,
  ],
  [
    'unsetting it',
    'sub vcl_backend_fetch { unset bereq.http.Content-Length; }',
    'protected-header',
    /cannot be unset.*bereq\.body/,
  ],
  [
    'its quoted name',
    'sub vcl_recv { unset req.http."content-length"; }',
    'protected-header',
    /cannot be unset/,
  ],
  [
    'Transfer-Encoding',
    'sub vcl_backend_response { unset beresp.http.transfer-encoding; }',
    'protected-header',
    /cannot be unset/,
  ],
  [
    'std.real2integer()',
    'sub vcl_recv { set req.http.x = std.real2integer(1.5, 1); }',
    'removed-function',
    /not found.*std\.integer/,
  ],
  [
    'std.real2time()',
    'sub vcl_recv { set req.http.x = std.real2time(1.5, now); }',
    'removed-function',
    /not found.*std\.time/,
  ],
  [
    'std.time2integer()',
    'sub vcl_recv { set req.http.x = std.time2integer(now, 1); }',
    'removed-function',
    /not found.*std\.integer/,
  ],
  [
    'std.time2real() by another name',
    'sub vcl_recv { set req.http.x = s.time2real(now, 1.0); }',
    'removed-function',
    /not found.*std\.real/,
  ],
  [
    'cookie.format_rfc1123()',
    'sub vcl_recv { set req.http.x = cookie.format_rfc1123(now, 1h); }',
    'removed-function',
    /not found.*format_date/,
  ],
  [
    'beresp.storage_hint',
    'sub vcl_backend_response { set beresp.storage_hint = "s0"; }',
    'removed-variable',
    /not found.*beresp\.storage/,
    '4.0',
  ],
  [
    'reading req.is_hitmiss in vcl_recv',
    'sub vcl_recv { if (req.is_hitmiss) { return (pass); } }',
    'marker-elsewhere',
    /Not available.*vcl_recv/,
  ],
  [
    'reading req.is_hitpass in vcl_miss',
    'sub vcl_miss { if (req.is_hitpass) { return (pass); } }',
    'marker-elsewhere',
    /Not available.*vcl_miss/,
  ],
  ['a path of +glob that begins with a name', 'include +glob "inc/*.vcl";', 'loose-glob', /\+glob/],
];

const SLUGS = new Set(['old-name', ...ROWS.map(([, , slug]) => slug)]);

describe.each(ROWS)('%s', (_what, text, slug, error, version) => {
  it('compiles with 7.1, and the lint has a note at its place', () => {
    expect(errors(text, '7.1', version)).toEqual([]);
    expect(findings(text, version)).toEqual([[4, slug, 'info']]);
  });

  it('is refused with 9.0, with a hint', () => {
    expect(errors(text, '9.0', version)).toEqual([expect.stringMatching(error)]);
  });
});

describe('with 9.0', () => {
  it.each([
    [
      'reading protected headers',
      'sub vcl_recv { std.collect(req.http.content-length); std.log(req.http.transfer-encoding); }',
    ],
    ['unsetting a body', 'sub vcl_backend_fetch { unset bereq.body; }'],
    [
      'the markers in their states',
      'sub vcl_miss { std.log(req.is_hitmiss); } sub vcl_pass { std.log(req.is_hitmiss + req.is_hitpass); } sub vcl_deliver { std.log(req.is_hitpass + req.is_hitmiss); } sub vcl_synth { std.log(req.is_hitpass + req.is_hitmiss); }',
    ],
    ['bereq.is_hitmiss', 'sub vcl_backend_fetch { std.log(bereq.is_hitmiss); }'],
    [
      'paths of +glob that begin with a dot or a slash',
      'include +glob "./inc/*.vcl"; include +glob "/etc/inc/*.vcl";',
    ],
    ['an older name of req.max_age', 'sub vcl_recv { set req.ttl = 1s; }'],
  ])('%s compiles', (_what, text) => {
    expect(errors(text, '9.0')).toEqual([]);
  });

  it('an acl is folded unless it says no', () => {
    const acl = (flags: string, release: Release): number =>
      compile(source(`acl a ${flags} { "192.0.2.1"; "192.0.2.0"/24; }`), {
        errUnref: false,
        release,
      }).warnings.filter(({ message }) => !message.startsWith('Unused')).length;
    expect([acl('', '7.1'), acl('', '9.0'), acl('-fold', '9.0'), acl('+fold', '7.1')]).toEqual([0, 1, 0, 1]);
  });
});

describe('the lint', () => {
  it('names the newer name of req.ttl', () => {
    expect(findings('sub vcl_recv { set req.ttl = 1s; }')).toEqual([[4, 'old-name', 'info']]);
  });

  it('has nothing to say about a program that meets none of it', () => {
    expect(
      findings('sub vcl_recv { std.log(req.http.content-length); } include +glob "./inc/*.vcl";'),
    ).toEqual([]);
  });

  const changes = (text: string): [number, string][] => {
    const { view } = parseForLint(source(text), READER);
    return runRules(view, RELEASE_RULES).map(({ line, code }) => [line, code]);
  };

  it.each<[string, string, [number, string][]]>([
    ['methods that the builtin program judges', '', [[2, 'release-unknown-methods']]],
    [
      'them, in a program with a vcl_recv of its own',
      'sub vcl_recv { std.log(req.url); }',
      [[4, 'release-unknown-methods']],
    ],
    [
      'not unknown methods, where vcl_recv decides about them',
      'sub vcl_recv { if ((req.method != "GET" && req.method != "HEAD") && req.method != "POST") { return (synth(405)); } }',
      [],
    ],
    [
      'them, where it does so for some',
      'sub vcl_recv { if (req.method != "GET" && req.method != "BAN") { return (synth(405)); } if (req.method != "GET") { unset req.http.a; } if (req.method == "X") { return (hash); } }',
      [[4, 'release-unknown-methods']],
    ],
    ['not them, where the program has the last word', 'sub vcl_recv { return (hash); }', []],
    ['not them, where vcl_req_method has it', 'sub vcl_req_method { return (hash); }', []],
    ['pipes', 'sub vcl_recv { return (pipe); }', [[4, 'release-pipe-timeouts']]],
    [
      'logged acls',
      'acl a +log { "192.0.2.1"; }\nacl b { "192.0.2.1"; }\nacl c +log -fold { "192.0.2.1"; }\nsub vcl_recv { return (hash); }',
      [[4, 'release-folded-acls']],
    ],
    ['uses of Via', 'sub vcl_recv { unset req.http.Via; return (hash); }', [[4, 'release-request-via']]],
    [
      'URLs that are no paths',
      'sub vcl_recv { set req.url = "x" + req.url; set req.url = "/" + req.url; return (hash); }',
      [[4, 'release-target-form']],
    ],
    [
      'lives of nothing',
      'sub vcl_recv { return (hash); } sub vcl_backend_response { set beresp.ttl = 0s; set beresp.ttl = 1s; }',
      [[4, 'release-shared-arrivals']],
    ],
    [
      '304s',
      'sub vcl_recv { return (hash); } sub vcl_backend_response { if (beresp.was_304) { return (deliver); } }',
      [[4, 'release-refresh-state']],
    ],
    [
      'parts of responses',
      'sub vcl_recv { return (hash); } sub vcl_backend_response { unset beresp.http.Content-Range; }',
      [[4, 'release-stray-content-range']],
    ],
    [
      'pages',
      'sub vcl_recv { return (hash); } sub vcl_backend_response { set beresp.do_esi = true; }',
      [
        [4, 'release-esi-level-in-log'],
        [4, 'release-fragment-statuses'],
        [4, 'release-depth-fails'],
      ],
    ],
    [
      'no pages where includes are switched off',
      'sub vcl_recv { return (hash); } sub vcl_backend_response { set beresp.do_esi = false; }',
      [],
    ],
    [
      'requests that pass, once',
      'sub vcl_recv { if (req.url == "/a") { return (pass); } return (pass); }',
      [[4, 'release-empty-bodies']],
    ],
    [
      'bodies that are dropped',
      'sub vcl_recv { return (hash); } sub vcl_backend_fetch { unset bereq.body; }',
      [[4, 'release-kept-body-dropped']],
    ],
    [
      'bodies that are kept, by whatever name',
      'import std as base; sub vcl_recv { base.cache_req_body(1KB); return (hash); }',
      [[4, 'release-request-body-failures']],
    ],
    [
      'sums of ids, but not those with text',
      'sub vcl_recv { std.log("a" + req.xid); std.log(req.xid + 1); return (hash); }',
      [[4, 'release-id-sums']],
    ],
    [
      'timeouts that are read, but not those that are set',
      'sub vcl_recv { return (hash); } sub vcl_backend_fetch { set bereq.connect_timeout = 1s; unset bereq.first_byte_timeout;\nstd.log(bereq.first_byte_timeout); }',
      [[5, 'release-shown-timeouts']],
    ],
    [
      'timeouts of zero',
      'sub vcl_recv { return (hash); } sub vcl_backend_fetch { set bereq.connect_timeout = 1s; set bereq.first_byte_timeout = 0s; }',
      [[4, 'release-zero-timeouts']],
    ],
    ['ranges', 'sub vcl_recv { unset req.http.Range; return (hash); }', [[4, 'release-open-ranges']]],
    [
      'soft purges',
      'import purge; sub vcl_recv { return (hash); } sub vcl_hit { purge.soft(1s); }',
      [[4, 'release-soft-shortens']],
    ],
    [
      'dates of objects',
      'sub vcl_recv { return (hash); } sub vcl_backend_response { unset beresp.http.Last-Modified; }',
      [[4, 'release-old-modified']],
    ],
    [
      'lists of cookies',
      'import cookie; sub vcl_recv { set req.http.Cookie = cookie.get_string(); return (hash); }',
      [[4, 'release-cookie-end']],
    ],
  ])('lists the changes for %s', (_what, text, expected) => {
    expect(changes(text)).toEqual(expected);
  });
});
