# Protected content from a cache: the origin marks it with X-Paywall (metered, subscribers), and nobody gets it past
# the gate in vcl_deliver. Cookies do not part what is cached, since the page is the same for all who may read it.
vcl 4.1;

import cookie;
import paywall;
import std;

backend default { .host = "127.0.0.1"; .port = "8080"; }

sub vcl_init {
  new gate = paywall.gate("/etc/proxyd/paywall.key", "http://127.0.0.1:9000/access", free = 3, period = 30d);
}

sub vcl_recv {
  # A restart and a fragment have them from the request that they belong to.
  if (req.restarts == 0 && req.esi_level == 0) {
    # These are ours: what a client sends under their names is worth nothing.
    unset req.http.X-Cookie;
    unset req.http.X-Session;
    if (req.http.Cookie) {
      cookie.parse(req.http.Cookie);
      set req.http.X-Cookie = req.http.Cookie;
      set req.http.X-Session = cookie.get("session");
      # Of what is passed, as a login, the origin gets it still.
      if (req.method == "GET" || req.method == "HEAD") { unset req.http.Cookie; }
    }
  }
  # A pipe would go past the gate.
  if (req.method != "GET" && req.method != "HEAD") { return (pass); }
}

sub vcl_backend_fetch {
  unset bereq.http.X-Cookie;
  unset bereq.http.X-Session;
}

sub vcl_backend_response {
  # Two marks in two fields become one that the gate does not know, and nobody passes.
  std.collect(beresp.http.X-Paywall);
  # Cached by the mark: how long the page is fresh is ours to say, as browsers may not keep it.
  if (beresp.http.X-Paywall) {
    unset beresp.http.Set-Cookie;
    set beresp.ttl = 5m;
  }
}

sub vcl_deliver {
  if (resp.http.X-Paywall) {
    if (!gate.check(req.http.X-Cookie, resp.http.X-Paywall, req.http.X-Session)) {
      if (gate.reason() == "unavailable") { return (synth(503, "Try again")); }
      if (gate.reason() == "denied") { return (synth(403, "Not yours")); }
      return (synth(402, "Subscribe"));
    }
    if (gate.set_cookie()) { set resp.http.Set-Cookie = gate.set_cookie(); }
    set resp.http.X-Views-Left = gate.remaining();
    set resp.http.Cache-Control = "private, no-store";
    unset resp.http.X-Paywall;
  }
}

sub vcl_synth {
  set resp.http.Cache-Control = "no-store";
}
