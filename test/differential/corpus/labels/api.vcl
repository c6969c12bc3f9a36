vcl 4.0;

import std;

backend api { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  set req.http.X-Api = "api " + req.restarts;
  if (req.url ~ "^/again" && req.restarts == 0) {
    return (restart);
  }
  if (req.url ~ "^/fail") {
    return (fail);
  }
  if (req.url ~ "^/synth") {
    return (synth(418));
  }
  return (hash);
}

sub vcl_backend_response {
  set beresp.http.X-By = "api";
  set beresp.ttl = 1m;
}

sub vcl_deliver {
  set resp.http.X-Deliver = "api, entered by " + req.http.X-Entry;
}

sub vcl_synth {
  set resp.http.X-Synth = "api";
}
