# Protected content from a cache: the origin marks it with X-Paywall (metered, subscribers), and the gate in vcl_deliver
# checks every delivery. Cookies are not part of the cache key, since the page is the same for all entitled readers.
vcl 4.1;

import cookie;
import paywall;
import std;

backend default { .host = "127.0.0.1"; .port = "8080"; }

sub vcl_init {
  new gate = paywall.gate("/etc/proxyd/paywall.key", "http://127.0.0.1:9000/access", free = 3, period = 30d);
}

sub vcl_recv {
  # Restarts and fragments inherit these headers.
  if (req.restarts == 0 && req.esi_level == 0) {
    # Internal headers: discard those of clients.
    unset req.http.X-Cookie;
    unset req.http.X-Session;
    if (req.http.Cookie) {
      cookie.parse(req.http.Cookie);
      set req.http.X-Cookie = req.http.Cookie;
      set req.http.X-Session = cookie.get("session");
      # Passed requests, such as logins, keep their cookies.
      if (req.method == "GET" || req.method == "HEAD") { unset req.http.Cookie; }
    }
  }
  # A pipe would bypass the gate.
  if (req.method != "GET" && req.method != "HEAD") { return (pass); }
}

sub vcl_backend_fetch {
  unset bereq.http.X-Cookie;
  unset bereq.http.X-Session;
}

sub vcl_backend_response {
  # Two marks in two headers become an unknown one, which denies access.
  std.collect(beresp.http.X-Paywall);
  # The TTL is set here, because browsers must not store the page.
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
