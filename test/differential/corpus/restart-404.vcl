# What one backend does not have, the next may: old archive, then a page of our own.
vcl 4.1;

import std;

backend primary { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
backend archive { .host = "127.0.0.1"; .port = "@ORIGIN@"; .host_header = "archive"; }
backend gone { .host = "127.0.0.1"; .port = "@DEAD@"; }

sub vcl_recv {
  if (req.restarts == 0) {
    set req.http.X-Original-Url = req.url;
    set req.backend_hint = primary;
  } elseif (req.restarts == 1) {
    set req.backend_hint = archive;
    set req.url = "/archive" + req.http.X-Original-Url;
  } elsif (req.restarts == 2) {
    set req.url = "/not-found.html";
  } elsif (req.url != "/loop") {
    return (synth(404, "Nowhere"));
  }
  if (req.http.X-Dead) {
    set req.backend_hint = gone;
  }
  if (req.method == "POST") {
    std.cache_req_body(1KB);
  }
}

sub vcl_deliver {
  if (resp.status == 404 || req.url == "/loop") {
    set req.http.X-Tried = req.http.X-Tried + req.backend_hint + ";";
    return (restart);
  }
  if (req.restarts > 0) {
    set resp.http.X-Tried = req.http.X-Tried;
    set resp.http.X-Restarts = req.restarts;
    if (req.url == "/not-found.html") {
      set resp.status = 404;
      set resp.reason = "Really Not Found";
    }
  }
}

sub vcl_backend_response {
  if (beresp.status == 404) {
    set beresp.ttl = 5s;
    set beresp.http.X-Negative = "cached";
  }
}

sub vcl_synth {
  if (resp.status == 503 && req.restarts < 1 && req.http.X-Dead) {
    unset req.http.X-Dead;
    return (restart);
  }
  set resp.http.X-Restarts = req.restarts;
}
