// Readies the compiler for the first program that an operator loads: compiling a sample a few times, when the
// manager has nothing else to do, lets the engine compile the compiler. Without it the first vcl.load of a daemon
// takes several times as long as later ones.

import type { Compile } from './program-host.ts';

const ROUNDS = 12;
/** Milliseconds between two rounds, for whoever else wants the processor. */
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
  setTimeout(next, BETWEEN).unref();
}
