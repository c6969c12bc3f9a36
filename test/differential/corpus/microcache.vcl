# Everything for a second: one request a second reaches the application, whatever it says about caching.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

acl here { "127.0.0.1"; }

sub vcl_recv {
  if (req.method != "GET" && req.method != "HEAD" && req.method != "OPTIONS") {
    return (pass);
  }
  if (req.http.Cache-Control ~ "no-cache" && client.ip ~ here) {
    set req.hash_always_miss = true;
  }
  if (req.http.Range) {
    set req.http.X-Range = req.http.Range;
    unset req.http.Range;
  }
  unset req.http.Cookie;
  unset req.http.Authorization;
  return (hash);
}

sub vcl_backend_response {
  set beresp.http.X-Asked-Ttl = beresp.ttl;
  unset beresp.http.Set-Cookie;
  unset beresp.http.Pragma;
  unset beresp.http.Expires;
  unset beresp.http.Cache-Control;
  if (beresp.status < 500) {
    set beresp.ttl = 1s;
    set beresp.grace = 5s;
    set beresp.uncacheable = false;
  } else {
    set beresp.ttl = 0s;
    set beresp.grace = 0s;
  }
  return (deliver);
}

sub vcl_deliver {
  set resp.http.Cache-Control = "no-cache";
  set resp.http.X-Left = std.integer(duration = obj.ttl + 0.9s, fallback = -1);
  if (obj.hits > 2) {
    set resp.http.X-Popular = "yes";
  }
}
