# How long a stale page may be served: a little while the origin is well, long while it is not.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  if (req.http.X-Grace) {
    set req.grace = std.duration(req.http.X-Grace, 0s);
  }
  if (req.http.X-Max-Age) {
    set req.ttl = std.duration(req.http.X-Max-Age, 1h);
  }
}

sub vcl_hit {
  set req.http.X-State = "ttl";
  if (obj.ttl <= 0s) {
    set req.http.X-State = "grace";
  }
  if (req.http.X-Fresh && obj.ttl <= 0s) {
    return (pass);
  }
  if (req.http.X-Restart && obj.ttl <= 0s && req.restarts == 0) {
    set req.hash_always_miss = true;
    return (restart);
  }
  if (req.http.X-Refuse) {
    return (synth(503, "stale"));
  }
}

sub vcl_backend_fetch {
  if (bereq.is_bgfetch) {
    set bereq.http.X-Background = "true";
  }
}

sub vcl_backend_response {
  if (beresp.status >= 500 && bereq.is_bgfetch) {
    # What is there may be stale, but it is a page.
    return (abandon);
  }
  set beresp.ttl = std.duration(beresp.http.X-Ttl, 0.4s);
  set beresp.grace = std.duration(beresp.http.X-Grace, 1h);
  set beresp.keep = std.duration(beresp.http.X-Keep, 0s);
}

sub vcl_deliver {
  if (req.http.X-State) {
    set resp.http.X-State = req.http.X-State;
  }
  if (obj.ttl < 0s) {
    set resp.http.X-Stale = "yes";
  }
  set resp.http.X-Obj = obj.hits + " " + obj.grace + " " + obj.keep;
}
