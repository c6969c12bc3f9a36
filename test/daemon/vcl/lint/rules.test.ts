// Every rule of the lint: programs it must speak up about, with the place, and programs it must leave alone. All of
// them compile, because a rule is about what the compiler cannot know.
import { describe, expect, it } from 'vitest';
import { compile } from '../../../../daemon/extensions/compile-with-builtins.ts';
import { parseForLint, runRules } from '../../../../daemon/vcl/lint/lint.ts';
import { RULES } from '../../../../daemon/vcl/lint/rules.ts';

interface Cases {
  /** Programs without their head, `§` before the place that is reported. */
  bad: string[];
  good: string[];
}

const headOf = (text: string): string =>
  `vcl ${text.includes('storage_hint') ? '4.0' : '4.1'};\n${/\bstd\./.test(text) ? 'import std;\n' : ''}backend b { .host = "192.0.2.1"; }\n`;

const CASES: Record<string, Cases> = {
  'unreachable-code': {
    bad: [
      'sub vcl_recv { return (hash); §set req.http.a = "1"; }',
      'sub vcl_recv { if (req.url) { return (pass); §unset req.http.a; } }',
      'sub vcl_recv { if (req.url) { return (pass); } else { return (hash); } §set req.http.a = "1"; }',
      'sub s { return (pass); } sub vcl_recv { call s; §set req.http.a = "1"; }',
      'sub vcl_recv { return (hash); } sub §vcl_recv { set req.http.a = "1"; }',
    ],
    good: [
      'sub vcl_recv { if (req.url) { return (pass); } set req.http.a = "1"; }',
      'sub s { if (req.url) { return; } return (pass); } sub vcl_recv { call s; set req.http.a = "1"; }',
      'sub vcl_recv { set req.http.a = "1"; } sub vcl_recv { return (hash); }',
    ],
  },
  'overwritten-by-builtin': {
    bad: [
      'sub vcl_synth { §set resp.http.Retry-After = "60"; }',
      'sub vcl_synth { if (resp.status == 503) { §set resp.http.retry-after = "60"; } }',
      'sub vcl_synth { if (resp.status == 301) { return (deliver); } §set resp.http.Content-Type = "text/plain"; }',
      'sub vcl_synth { §synthetic("sorry"); }',
      'sub s { §set resp.http.Retry-After = "60"; if (resp.status == 503) { return; } return (deliver); } sub vcl_synth { call s; }',
      'sub vcl_backend_error { §set beresp.http.Retry-After = "60"; }',
      'sub vcl_backend_error { §set beresp.body = "sorry"; } sub vcl_backend_error { set beresp.ttl = 1s; }',
      'sub vcl_synth { §set resp.http.Retry-After = "60"; } sub vcl_builtin_synth { set resp.http.a = "1"; }',
    ],
    good: [
      'sub vcl_synth { set resp.http.Retry-After = "60"; return (deliver); }',
      'sub vcl_synth { if (resp.status == 503) { set resp.http.Retry-After = "60"; synthetic("x"); return (deliver); } }',
      'sub s { set resp.http.Retry-After = "60"; return (deliver); } sub vcl_synth { call s; }',
      'sub vcl_synth { set resp.http.Retry-After = "60"; unset resp.http.Retry-After; }',
      'sub vcl_synth { set resp.http.X-Reason = "1"; } sub vcl_deliver { set resp.http.Retry-After = "60"; }',
      'sub vcl_backend_error { set beresp.http.Retry-After = "60"; return (deliver); }',
      'sub vcl_backend_response { set beresp.http.Retry-After = "60"; }',
      'sub vcl_synth { set resp.http.Retry-After = "60"; } sub vcl_builtin_synth { return (deliver); }',
    ],
  },
  'bereq-after-fetch': {
    bad: [
      'sub vcl_backend_response { set §bereq.http.X-Token = "1"; }',
      'sub vcl_backend_error { unset §bereq.http.Cookie; }',
      'sub s { set §bereq.http.a = "1"; } sub vcl_backend_response { call s; }',
    ],
    good: [
      'sub vcl_backend_fetch { set bereq.http.X-Token = "1"; }',
      'sub vcl_backend_response { if (beresp.status == 503) { set bereq.http.X-Again = "1"; return (retry); } }',
      'sub vcl_backend_response { set bereq.http.n = "1"; if (bereq.http.n == "1") { set beresp.ttl = 1s; } }',
    ],
  },
  'key-changed-late': {
    bad: [
      'sub vcl_miss { set §req.url = "/x"; }',
      'sub vcl_backend_fetch { set §bereq.url = "/" + bereq.http.X-Lang + bereq.url; }',
    ],
    good: [
      'sub vcl_recv { set req.url = "/x"; }',
      'sub vcl_pass { set req.url = "/x"; }',
      'sub vcl_backend_fetch { set bereq.url = regsub(bereq.url, "a", "b"); }',
      'sub vcl_hash { hash_data(req.http.x-lang); } sub vcl_backend_fetch { set bereq.url = "/" + bereq.http.X-Lang + bereq.url; }',
    ],
  },
  'regex-never-matches': {
    bad: [
      'sub vcl_recv { if (req.http.a ~ §"a$b") { return (pass); } }',
      'sub vcl_recv { if (req.http.a ~ §"a^b") { return (pass); } }',
      'sub vcl_recv { if (req.http.a ~ §"(foo$|bar$)baz") { return (pass); } }',
      'sub vcl_recv { set req.http.a = regsub(req.http.b, §"x+^y", ""); }',
      'sub vcl_recv { if (req.url ~ §"^admin/") { return (pass); } }',
      'sub vcl_recv { if (req.url ~ §"^https?://") { return (pass); } }',
      'sub vcl_recv { if (req.http.host ~ §"^https://www") { return (pass); } }',
      'sub vcl_recv { if (req.http.host ~ §"example\\.com/shop") { return (pass); } }',
      'sub vcl_recv { if (req.method ~ §"^(get|head)$") { return (pass); } }',
    ],
    good: [
      'sub vcl_recv { if (req.http.a ~ "^a$") { return (pass); } }',
      'sub vcl_recv { if (req.http.a ~ "a$|^b") { return (pass); } }',
      'sub vcl_recv { if (req.http.a ~ "(^|; )x=([^;]*)($|;)y?") { return (pass); } }',
      'sub vcl_recv { if (req.url ~ "^/admin" || req.url ~ "^(/a|/b)" || req.url ~ "^[^?]+") { return (pass); } }',
      'sub vcl_recv { if (req.http.host ~ "^www\\.") { return (pass); } }',
      'sub vcl_recv { if (req.method ~ "^(GET|HEAD)$") { return (pass); } }',
      'sub vcl_recv { if (req.method ~ "(?i)^get$") { return (pass); } }',
    ],
  },
  'hash-missing-return': {
    bad: [
      'sub §vcl_hash { hash_data(regsub(req.url, "\\?.*", "")); }',
      'sub §vcl_hash { hash_data(req.http.Host); if (req.http.a) { return (lookup); } }',
      // A note only: it is the usual way to add to the key.
      'sub §vcl_hash { hash_data(req.http.X-Device); }',
    ],
    good: [
      'sub vcl_hash { hash_data(req.url); hash_data(req.http.host); return (lookup); }',
      'sub vcl_recv { unset req.http.Cookie; }',
    ],
  },
  'hash-incomplete': {
    bad: [
      'sub §vcl_hash { hash_data(req.url); return (lookup); }',
      'sub §vcl_hash { hash_data("all"); return (lookup); }',
    ],
    good: [
      'sub vcl_hash { hash_data(req.url); hash_data(req.http.host); return (lookup); }',
      'sub vcl_hash { hash_data(req.url); hash_data(req.http.X-Site); return (lookup); }',
      'sub vcl_hash { hash_data(req.http.X-Device); }',
    ],
  },
  'cookies-pass-everything': {
    bad: [
      'sub §vcl_recv { set req.http.a = "1"; }',
      'sub vcl_recv { if (§req.http.Cookie) { return (pass); } return (hash); }',
    ],
    good: [
      'sub vcl_recv { unset req.http.Cookie; }',
      'sub vcl_recv { set req.http.cookie = regsuball(req.http.cookie, "_ga=[^;]*", ""); if (req.http.cookie) { return (pass); } }',
      'sub vcl_recv { if (req.method != "GET") { return (pass); } return (hash); }',
      'sub s { unset req.http.cookie; } sub vcl_recv { call s; }',
    ],
  },
  'empty-string-compare': {
    bad: [
      'sub vcl_recv { if (§req.http.a == "") { return (pass); } }',
      'sub vcl_deliver { if (req.url && §resp.http.a != "") { unset resp.http.a; } }',
    ],
    good: [
      'sub vcl_recv { if (req.http.a) { return (pass); } }',
      'sub vcl_recv { if (req.url == "") { return (pass); } }',
      'sub vcl_recv { if (req.http.a && req.http.a != "") { return (pass); } }',
      'sub vcl_recv { if (req.http.a) { set req.http.a = regsub(req.http.a, "x", ""); if (req.http.a == "") { unset req.http.a; } } }',
    ],
  },
  'hash-before-host': {
    bad: [
      'sub vcl_recv { §return (hash); }',
      'sub vcl_recv { if (req.url ~ "^/static/") { §return (hash); } set req.http.Host = "x"; }',
    ],
    good: [
      'sub vcl_recv { set req.http.Host = std.tolower(req.http.Host); return (hash); }',
      'sub vcl_recv { call vcl_req_host; return (hash); }',
      'sub vcl_recv { return (pass); }',
    ],
  },
  'authorization-cached': {
    bad: ['sub vcl_recv { unset req.http.Cookie; §return (hash); }'],
    good: [
      'sub vcl_recv { if (req.http.Authorization) { return (pass); } return (hash); }',
      'sub vcl_recv { if (req.url ~ "^/static/") { return (hash); } }',
      'sub vcl_hash { hash_data(req.http.Authorization); } sub vcl_recv { return (hash); }',
    ],
  },
  'set-cookie-cached': {
    bad: [
      'sub vcl_backend_response { set beresp.ttl = 1h; §return (deliver); }',
      'sub vcl_backend_response { if (bereq.url ~ "x") { §return (deliver); } }',
      'sub vcl_backend_response { set beresp.uncacheable = false; §return (deliver); }',
    ],
    good: [
      'sub vcl_backend_response { unset beresp.http.Set-Cookie; return (deliver); }',
      'sub vcl_backend_response { if (beresp.http.Set-Cookie) { set beresp.uncacheable = true; } return (deliver); }',
      'sub vcl_backend_response { if (beresp.status >= 500) { set beresp.uncacheable = true; return (deliver); } }',
      'sub vcl_backend_response { if (beresp.status >= 500) { set beresp.ttl = 0s; return (deliver); } }',
      'sub vcl_backend_response { set beresp.ttl = 1h; }',
    ],
  },
  'ttl-ignores-private': {
    bad: [
      'sub vcl_backend_response { §set beresp.ttl = 1h; unset beresp.http.Set-Cookie; return (deliver); }',
    ],
    good: [
      'sub vcl_backend_response { set beresp.ttl = 1h; }',
      'sub vcl_backend_response { if (beresp.http.Cache-Control !~ "private") { set beresp.ttl = 1h; } return (deliver); }',
      'sub vcl_backend_response { if (bereq.url ~ "^/static/") { set beresp.ttl = 1h; } return (deliver); }',
    ],
  },
  'ban-not-lurkable': {
    bad: [
      'acl a { "192.0.2.1"; } sub vcl_recv { if (client.ip ~ a) { ban(§"req.url ~ " + req.url); } }',
      'acl a { "192.0.2.1"; } sub vcl_recv { if (client.ip ~ a) { std.ban("obj.status == 200" + §" && req.http.host == " + req.http.host); } }',
    ],
    good: [
      'acl a { "192.0.2.1"; } sub vcl_recv { if (client.ip ~ a) { ban("obj.http.x-url ~ " + req.url); } }',
    ],
  },
  'grace-never-used': {
    bad: [
      'sub vcl_backend_response { set beresp.uncacheable = true; §set beresp.grace = 1h; }',
      'sub vcl_backend_response { set beresp.uncacheable = true; §set beresp.grace = beresp.ttl; }',
      'sub vcl_backend_fetch { unset bereq.http.If-None-Match; unset bereq.http.If-Modified-Since; } sub vcl_backend_response { §set beresp.keep = 1d; }',
    ],
    good: [
      'sub vcl_backend_response { set beresp.grace = 1h; set beresp.keep = 1d; }',
      'sub vcl_backend_response { set beresp.uncacheable = true; set beresp.grace = 0.0s; }',
      'sub vcl_backend_response { if (beresp.status == 500) { set beresp.uncacheable = true; } set beresp.grace = 1h; }',
    ],
  },
  'acl-never-matches': {
    bad: [
      'acl §a { ! "10.0.0.0"/8; } sub vcl_recv { if (client.ip ~ a) { return (pass); } }',
      'acl a { "10.0.0.0"/8; §"10.1.0.0"/16; } sub vcl_recv { if (client.ip ~ a) { return (pass); } }',
      'acl a { "10"; §"10.1/16"; } sub vcl_recv { if (client.ip ~ a) { return (pass); } }',
      'acl a { "2001:db8::"/32; §"2001:db8::1"; } sub vcl_recv { if (client.ip ~ a) { return (pass); } }',
    ],
    good: [
      'acl a { "10.0.0.0"/8; ! "10.1.0.0"/16; "10.1.2.0"/24; } sub vcl_recv { if (client.ip ~ a) { return (pass); } }',
      'acl a { "10.0.0.1"; "::1"; "10.0.0.0"/8; } sub vcl_recv { if (client.ip ~ a) { return (pass); } }',
    ],
  },
  'unescaped-dot': {
    bad: [
      'sub vcl_recv { if (req.http.host ~ §"^www.example\\.com$") { return (pass); } }',
      'sub vcl_recv { if (req.http.host ~ §"(shop|blog).example\\.com") { return (pass); } }',
      'sub vcl_recv { if (req.url ~ §".(png|jpg)(\\?|$)") { return (pass); } }',
      'sub vcl_recv { if (req.url ~ §".css") { return (pass); } }',
    ],
    good: [
      'sub vcl_recv { if (req.http.host ~ "^www\\.example\\.com$") { return (pass); } }',
      'sub vcl_recv { if (req.http.host ~ "^[a-z.]+\\.example\\.com") { return (pass); } }',
      'sub vcl_recv { if (req.http.host ~ "^.*\\.example\\.com") { return (pass); } }',
      'sub vcl_recv { if (req.url ~ "^/a.b/" || req.url ~ "\\.(png|jpg)(\\?|$)") { return (pass); } }',
    ],
  },
  'double-unset': {
    bad: [
      'sub vcl_deliver { unset resp.http.A; unset resp.http.B; §unset resp.http.a; }',
      'sub vcl_deliver { set resp.http.A = "1"; §unset resp.http.A; }',
      'sub vcl_deliver { if (req.url) { unset resp.http.A; §unset resp.http.A; } }',
      'sub vcl_deliver { if (req.url) { unset resp.http.B; } else { unset resp.http.A; §unset resp.http.A; } }',
      'sub vcl_deliver { { unset resp.http.A; §unset resp.http.A; } }',
    ],
    good: [
      'sub vcl_deliver { unset resp.http.A; set resp.http.A = "1"; }',
      'sub vcl_deliver { set resp.http.A = "1"; set resp.http.B = resp.http.A; unset resp.http.A; }',
      'sub vcl_deliver { if (req.url) { unset resp.http.A; } unset resp.http.A; }',
    ],
  },
  'overwritten-set': {
    bad: ['sub vcl_deliver { §set resp.http.A = "1"; set resp.http.B = "1"; set resp.http.A = "2"; }'],
    good: [
      'sub vcl_deliver { set resp.http.A = "1"; set resp.http.A = resp.http.A + "2"; }',
      'sub vcl_deliver { set resp.http.A = "1"; if (resp.http.A) { unset resp.http.B; } set resp.http.A = "2"; }',
      'sub vcl_deliver { set resp.http.A = "1"; set resp.http.A += "2"; }',
    ],
  },
  'self-assignment': {
    bad: ['sub vcl_recv { §set req.http.A = req.http.a; }'],
    good: ['sub vcl_recv { set req.http.A = req.http.b; }'],
  },
  'shadowed-alternative': {
    bad: [
      'sub vcl_recv { if (req.url ~ §"^/(admin|administrator)") { return (pass); } }',
      'sub vcl_recv { if (req.url ~ §"\\.(css|js|css)$") { return (pass); } }',
      'sub vcl_recv { set req.url = regsub(req.url, §"utm_source|utm_source_x", ""); }',
    ],
    good: [
      'sub vcl_recv { if (req.url ~ "^/(admin|administrator)$") { return (pass); } }',
      'sub vcl_recv { if (req.url ~ "^/(administrator|admin)") { return (pass); } }',
      'sub vcl_recv { if (req.url ~ "\\.(js|json)(\\?|$)") { return (pass); } }',
    ],
  },
  'repeated-condition': {
    bad: [
      'sub vcl_recv { if (req.url ~ "a") { return (pass); } elseif (req.url == "/b") { return (pipe); } elseif (§req.url  ~ "a") { return (hash); } }',
    ],
    good: [
      'sub vcl_recv { if (req.url ~ "a") { return (pass); } elseif (req.url ~ "b") { return (pipe); } }',
      'sub vcl_recv { if (std.random(0, 1) > 0.5) { return (pass); } elseif (std.random(0, 1) > 0.5) { return (pipe); } }',
    ],
  },
  'constant-condition': {
    bad: [
      'sub vcl_recv { if (§true) { return (pass); } }',
      'sub vcl_recv { if (§req.url && false) { return (pass); } }',
      'sub vcl_recv { if (§req.method != "GET" || req.method != "HEAD") { return (pass); } }',
      'sub vcl_recv { if (§req.method == "GET" && req.method == "HEAD") { return (pass); } }',
      'sub vcl_recv { if (§req.url == req.url) { return (pass); } }',
    ],
    good: [
      'sub vcl_recv { if (req.method != "GET" && req.method != "HEAD") { return (pass); } }',
      'sub vcl_recv { if (req.url == "/a" || req.url == "/b") { return (pass); } }',
    ],
  },
  'case-never-equal': {
    bad: [
      'sub vcl_recv { if (req.method == §"purge") { return (pass); } }',
      'sub vcl_recv { if (req.http.Host == §"Example.com") { return (pass); } }',
      'sub vcl_recv { if (req.http.Host == §"http://example.com") { return (pass); } }',
      'sub vcl_recv { if (req.url == §"index.html") { return (pass); } }',
    ],
    good: [
      'sub vcl_recv { if (req.method == "PURGE" || req.http.host == "example.com" || req.url == "/") { return (pass); } }',
    ],
  },
  'plain-https-port': {
    bad: [
      'backend c { .host = "192.0.2.2"; .port = §"443"; } sub vcl_recv { set req.backend_hint = c; }',
      'backend c { .host = "192.0.2.2"; .port = §"https"; } sub vcl_recv { set req.backend_hint = c; }',
      'backend c { .host = §"192.0.2.2:443"; } sub vcl_recv { set req.backend_hint = c; }',
      'backend c { .host = "192.0.2.2"; .port = §"443"; .ssl = 0; } sub vcl_recv { set req.backend_hint = c; }',
    ],
    good: [
      'backend c { .host = "192.0.2.2"; .port = "443"; .ssl = 1; } sub vcl_recv { set req.backend_hint = c; }',
      'backend c { .host = "192.0.2.2"; .port = "4430"; } sub vcl_recv { set req.backend_hint = c; }',
    ],
  },
  'peer-not-verified': {
    bad: [
      'backend c { .host = "192.0.2.2"; .ssl = 1; .§ssl_noverify = 1; } sub vcl_recv { set req.backend_hint = c; }',
      'backend c { .host = "192.0.2.2"; .ssl = true; .§ssl_verify_peer = false; } sub vcl_recv { set req.backend_hint = c; }',
      'backend c { .host = "192.0.2.2"; .ssl = 1; .§ssl_verify_host = 0; } sub vcl_recv { set req.backend_hint = c; }',
    ],
    good: [
      'backend c { .host = "192.0.2.2"; .ssl = 1; .ssl_noverify = 0; } sub vcl_recv { set req.backend_hint = c; }',
      'backend c { .host = "192.0.2.2"; .ssl = 1; .ssl_verify_peer = 1; .ssl_nosni = 1; } sub vcl_recv { set req.backend_hint = c; }',
    ],
  },
  'open-purge': {
    bad: [
      'sub vcl_recv { if (req.method == "PURGE") { §return (purge); } }',
      'sub vcl_recv { if (req.method == "BAN") { §ban("obj.http.x == " + req.url); } }',
    ],
    good: [
      'acl a { "192.0.2.1"; } sub vcl_recv { if (req.method == "PURGE") { if (client.ip !~ a) { return (synth(403)); } return (purge); } }',
      'sub vcl_recv { if (req.method == "PURGE" && req.http.X-Key == "a-long-secret") { return (purge); } }',
    ],
  },
  'forwarded-header-trusted': {
    bad: [
      'acl a { "192.0.2.1"; } sub vcl_recv { if (§std.ip(req.http.X-Forwarded-For, "0.0.0.0") ~ a) { return (pass); } }',
    ],
    good: ['acl a { "192.0.2.1"; } sub vcl_recv { if (client.ip ~ a) { return (pass); } }'],
  },
  'vary-splits-cache': {
    bad: [
      'sub vcl_backend_response { §set beresp.http.Vary = "Accept-Encoding, User-Agent"; }',
      'sub vcl_backend_response { §set beresp.http.Vary = beresp.http.Vary + ", Cookie"; }',
    ],
    good: ['sub vcl_backend_response { set beresp.http.Vary = "Accept-Encoding, X-Device"; }'],
  },
  'restart-unguarded': {
    bad: [
      'sub vcl_deliver { if (resp.status == 503) { §return (restart); } }',
      'sub vcl_backend_response { if (beresp.status == 500) { §return (retry); } }',
      'sub vcl_recv { unset req.http.a; } sub vcl_deliver { if (req.http.a-b) { §return (restart); } }',
      'sub vcl_recv { unset req.http.a; } sub vcl_deliver { if (resp.http.x == "req.http.a") { §return (restart); } }',
    ],
    good: [
      'sub vcl_deliver { if (resp.status == 503 && req.restarts == 0) { return (restart); } }',
      'sub vcl_deliver { if (resp.status == 503) { set req.url = "/sorry"; return (restart); } }',
      'sub vcl_recv { unset req.http.again; } sub vcl_deliver { if (req.http.again) { return (restart); } }',
    ],
  },
  'unused-import': {
    bad: ['§import std as s;'],
    good: ['import std as s; sub vcl_recv { s.log("x"); }'],
  },
  'extension-ignores-query': {
    bad: [
      'sub vcl_recv { if (req.url ~ §"\\.(?:css|js)$") { return (pass); } }',
      'sub vcl_recv { if (req.url ~ §"\\.png$") { return (pass); } }',
    ],
    good: [
      'sub vcl_recv { if (req.url ~ "\\.(css|js)(\\?.*)?$") { return (pass); } }',
      'sub vcl_recv { set req.url = regsub(req.url, "\\.html$", ""); }',
    ],
  },
  'esi-any-type': {
    bad: [
      'sub vcl_backend_response { §set beresp.do_esi = true; }',
      'sub vcl_backend_response { set beresp.ttl = 1m; §set beresp.do_esi = true; return (deliver); }',
      'sub vcl_backend_response { if (bereq.url ~ "\\.(png|jpe?g)$") { §set beresp.do_esi = true; } }',
      'sub vcl_backend_response { if (beresp.status == 200 && (beresp.http.Content-Type ~ "^image/")) { if (bereq.url) { §set beresp.do_esi = true; } } }',
      'sub s { if (bereq.url ~ "\\.css(\\?|$)") { §set beresp.do_esi = true; } } sub vcl_backend_response { call s; }',
    ],
    good: [
      'sub vcl_backend_response { if (beresp.http.Content-Type ~ "^text/html") { set beresp.do_esi = true; } }',
      'sub vcl_backend_response { if (bereq.url ~ "\\.(html|js)$") { set beresp.do_esi = true; } }',
      'sub vcl_backend_response { if (beresp.http.Content-Type !~ "image/") { set beresp.do_esi = true; } }',
      'sub vcl_backend_response { if (bereq.url ~ "\\.png$") { set beresp.ttl = 1h; } else { set beresp.do_esi = true; } }',
      'sub vcl_backend_response { if (bereq.url ~ "\\.png$") { return (deliver); } set beresp.do_esi = true; }',
      'sub vcl_backend_response { set beresp.do_esi = true; if (bereq.url ~ "\\.png$") { set beresp.do_esi = false; } }',
      'sub s { set beresp.do_esi = true; } sub vcl_backend_response { if (beresp.http.Content-Type ~ "html") { call s; } }',
      'sub vcl_backend_response { set beresp.do_esi = false; }',
    ],
  },
  'esi-include-host': {
    bad: [
      'sub vcl_recv { §set req.http.Host = "www.example.com"; } sub vcl_backend_response { set beresp.do_esi = true; }',
      'backend c { .host = "192.0.2.2"; } sub vcl_recv { if (req.url ~ "^/c") { set req.backend_hint = c; } } sub vcl_backend_response { §set beresp.do_esi = true; }',
    ],
    good: [
      'sub vcl_recv { set req.http.Host = "www.example.com"; }',
      'sub vcl_recv { if (req.esi_level == 0) { set req.http.Host = "www.example.com"; } } sub vcl_backend_response { set beresp.do_esi = true; }',
      'sub vcl_recv { set req.http.Host = regsub(req.http.Host, ":\\d+$", ""); } sub vcl_backend_response { set beresp.do_esi = true; }',
      'backend c { .host = "192.0.2.2"; } sub vcl_recv { if (req.http.host == "c.example") { set req.backend_hint = c; } } sub vcl_backend_response { set beresp.do_esi = true; }',
      'sub vcl_backend_response { set beresp.do_esi = true; }',
    ],
  },
  'esi-pages-passed': {
    bad: [
      'sub vcl_recv { if (req.method == "GET") { set req.http.a = "1"; } §return (pass); } sub vcl_backend_response { set beresp.do_esi = true; }',
    ],
    good: [
      'sub vcl_recv { return (pass); }',
      'sub vcl_recv { if (req.url ~ "^/mine") { return (pass); } } sub vcl_backend_response { set beresp.do_esi = true; }',
      'sub vcl_recv { if (req.esi_level > 0) { return (hash); } return (pass); } sub vcl_backend_response { set beresp.do_esi = true; }',
      'sub vcl_recv { if (req.url ~ "^/parts") { return (hash); } return (pass); } sub vcl_backend_response { set beresp.do_esi = true; }',
    ],
  },
  'esi-set-cookie': {
    bad: [
      'sub vcl_backend_response { if (beresp.http.Content-Type ~ "html") { §set beresp.do_esi = true; } }',
      'sub s { §set beresp.do_esi = true; } sub vcl_backend_response { call s; }',
    ],
    good: [
      'sub vcl_backend_response { unset beresp.http.Set-Cookie; set beresp.do_esi = true; }',
      'sub vcl_backend_response { if (!beresp.http.set-cookie) { set beresp.do_esi = true; } }',
      'sub vcl_backend_response { set beresp.do_esi = true; return (deliver); }',
      'sub vcl_backend_response { set beresp.do_esi = false; }',
    ],
  },
  'esi-switched-off': {
    bad: [
      'sub vcl_backend_response { set beresp.do_esi = true; } sub vcl_deliver { §set resp.do_esi = false; }',
      'sub vcl_backend_response { if (bereq.url) { set beresp.do_esi = true; } } sub vcl_deliver { if (req.url) { unset resp.http.a; } §set resp.do_esi = false; }',
    ],
    good: [
      'sub vcl_deliver { set resp.do_esi = false; }',
      'sub vcl_backend_response { set beresp.do_esi = true; } sub vcl_deliver { if (req.http.raw) { set resp.do_esi = false; } }',
      'sub vcl_backend_response { set beresp.do_esi = true; } sub vcl_deliver { set resp.do_esi = false; if (req.http.a) { set resp.do_esi = true; } }',
      'sub vcl_backend_response { set beresp.do_esi = true; } sub vcl_deliver { if (req.http.a) { return (deliver); } set resp.do_esi = false; }',
    ],
  },
  'empty-branch': {
    bad: ['sub vcl_recv { if (§req.http.a) { } }'],
    good: ['sub vcl_recv { if (req.http.a) { } else { return (pass); } }'],
  },
  'accept-encoding-touched': {
    bad: ['sub vcl_recv { if (req.url ~ "x") { §unset req.http.Accept-Encoding; } }'],
    good: ['sub vcl_backend_fetch { unset bereq.http.Accept-Encoding; }'],
  },
  'zero-ttl-delivered': {
    bad: ['sub vcl_backend_response { if (bereq.url ~ "x") { §set beresp.ttl = 0s; return (deliver); } }'],
    good: [
      'sub vcl_backend_response { set beresp.ttl = 0s; }',
      'sub vcl_backend_response { set beresp.ttl = 0s; set beresp.uncacheable = true; return (deliver); }',
    ],
  },
  'id-header-name': {
    bad: [
      'sub vcl_deliver { unset §resp.http.X-Varnish; }',
      'sub vcl_deliver { if (§resp.http.x-varnish ~ " ") { set resp.http.X-Cache = "HIT"; } }',
      'sub vcl_deliver { set resp.http.X-Id = "id " + §resp.http.X-VARNISH; }',
      'sub vcl_backend_fetch { unset §bereq.http.X-Varnish; }',
      'sub vcl_recv { if (std.integer(§req.http.X-Varnish, 3) > 3) { return (pass); } }',
    ],
    good: [
      'sub vcl_deliver { unset resp.http.X-Proxy-Id; }',
      'sub vcl_deliver { set resp.http.X-Varnish-Like = "X-Varnish"; }',
    ],
  },
  'protected-header': {
    bad: [
      'sub vcl_recv { set §req.http.Content-Length = "3"; }',
      'sub vcl_deliver { unset §resp.http.transfer-encoding; }',
      'sub vcl_backend_fetch { unset §bereq.http."content-length"; }',
    ],
    good: [
      'sub vcl_recv { if (req.http.Content-Length) { set req.http.Content-Lengths = "1"; } }',
      'sub vcl_backend_fetch { unset bereq.body; }',
    ],
  },
  'removed-function': {
    bad: [
      'sub vcl_recv { std.log(§std.real2integer(1.5, 1)); }',
      'import std as s; sub vcl_recv { set req.http.a = §s.time2real(now, 1.0); }',
      'import cookie; sub vcl_recv { set req.http.a = §cookie.format_rfc1123(now, 1h); }',
    ],
    good: ['sub vcl_recv { std.log(std.integer(real=1.5) + std.real(time=now)); }'],
  },
  'removed-variable': {
    bad: ['sub vcl_backend_response { set §beresp.storage_hint = "s0"; }'],
    good: ['sub vcl_backend_response { set beresp.storage = storage.s0; }'],
  },
  'marker-elsewhere': {
    bad: [
      'sub vcl_recv { if (§req.is_hitmiss) { return (pass); } }',
      'sub s { if (§req.is_hitpass) { return (pass); } } sub vcl_miss { call s; } sub vcl_hit { call s; }',
    ],
    good: [
      'sub vcl_miss { if (req.is_hitmiss) { return (pass); } }',
      'sub vcl_deliver { if (req.is_hitmiss || req.is_hitpass) { unset resp.http.a; } }',
      'sub vcl_backend_fetch { if (bereq.is_hitmiss) { unset bereq.http.a; } }',
    ],
  },
  'old-name': {
    bad: ['sub vcl_recv { set §req.ttl = 5s; }', 'sub vcl_recv { std.log("t" + §req.ttl); }'],
    good: ['sub vcl_recv { set req.max_age = 5s; unset req.grace; }'],
  },
  'loose-glob': {
    bad: ['include +glob §"test/differential/corpus/sites/*.vcl";'],
    good: [
      'include +glob "./test/differential/corpus/sites/*.vcl";',
      'include "test/differential/corpus/sites/a.vcl";',
    ],
  },
  'state-in-parts': {
    bad: ['sub vcl_recv { set req.http.a = "1"; } sub §vcl_recv { unset req.http.b; }'],
    good: ['sub vcl_recv { set req.http.a = "1"; } sub vcl_hit { unset req.http.b; }'],
  },
};

/** Positions at which a rule reports, as offsets into the text. */
function places(slug: string, text: string): { at: number; line: string }[] {
  const compiled = compile({ name: 'x.vcl', text }, { errUnref: false });
  expect(compiled.errors?.map((e) => e.message) ?? []).toEqual([]);
  const { view } = parseForLint({ name: 'x.vcl', text }, {});
  const rule = RULES.filter((r) => r.slug === slug);
  const lines = text.split('\n');
  return runRules(view, rule).map((f) => ({
    at: lines.slice(0, f.line - 1).join('\n').length + (f.line > 1 ? 1 : 0) + f.column - 1,
    line: f.message,
  }));
}

it('every rule has cases, a name of its own and an explanation', () => {
  expect(RULES.map((r) => r.slug)).toEqual(Object.keys(CASES).sort());
  for (const r of RULES) expect(r.explanation.length).toBeGreaterThan(60);
});

for (const [slug, { bad, good }] of Object.entries(CASES)) {
  describe(slug, () => {
    for (const text of bad) {
      it(`speaks up: ${text}`, () => {
        const head = headOf(text);
        const at = head.length + text.indexOf('§');
        expect(places(slug, head + text.replace('§', '')).map((p) => p.at)).toEqual([at]);
      });
    }
    for (const text of good) {
      it(`is silent: ${text}`, () => {
        expect(places(slug, headOf(text) + text)).toEqual([]);
      });
    }
  });
}
