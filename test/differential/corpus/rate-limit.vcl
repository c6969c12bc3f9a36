# Limits by client, by key and by what is asked; those over the limit are told when to come back.
vcl 4.1;

import std;
import vsthrottle;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

acl unlimited { "10.9.0.0"/16; }

sub limit_login {
  if (req.method == "POST" && req.url ~ "^/login") {
    if (vsthrottle.is_denied("login:" + req.http.X-Addr, 2, 60s, 120s)) {
      return (synth(429, "Too many attempts"));
    }
  }
}

sub limit_api {
  if (req.url ~ "^/api/") {
    set req.http.X-Limit-Key = "api:" + req.http.X-Api-Key;
    if (vsthrottle.is_denied(req.http.X-Limit-Key, 3, 100s)) {
      set req.http.X-Limited = "api";
      return (synth(429, "Slow down"));
    }
    set req.http.X-Remaining = vsthrottle.remaining(req.http.X-Limit-Key, 3, 100s);
  }
}

sub vcl_recv {
  set req.http.X-Addr = std.ip(req.http.X-Real-IP, client.ip);
  if (std.ip(req.http.X-Addr, "0.0.0.0") ~ unlimited) {
    set req.http.X-Unlimited = "yes";
    return (hash);
  }
  if (req.url == "/return") {
    vsthrottle.return_token("api:k1", 3, 100s);
    return (synth(200, "returned"));
  }
  if (req.url == "/blocked") {
    return (synth(200, "blocked for " + std.integer(duration = vsthrottle.blocked("login:9.9.9.9", 2, 60s, 120s) + 0.9s)));
  }
  call limit_login;
  call limit_api;
}

sub vcl_backend_response {
  set beresp.ttl = 1s;
  set beresp.uncacheable = true;
}

sub vcl_deliver {
  if (req.http.X-Remaining) {
    set resp.http.X-RateLimit-Limit = "3";
    set resp.http.X-RateLimit-Remaining = req.http.X-Remaining;
  }
}

sub vcl_synth {
  if (resp.status == 429) {
    set resp.http.Retry-After = "60";
    if (req.http.X-Limited) {
      set resp.http.X-Limited = req.http.X-Limited;
    }
    set resp.http.Content-Type = "text/plain";
    set resp.body = "later, please";
    return (deliver);
  }
}
