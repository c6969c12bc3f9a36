# A gateway before several services: versions in the path or in a field, keys, CORS, problems as JSON.
vcl 4.1;

import std;
import blob;
import var;

backend users { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
backend orders { .host = "127.0.0.1"; .port = "@ORIGIN@"; .first_byte_timeout = 1s; }
backend legacy { .host = "127.0.0.1"; .port = "@DEAD@"; .connect_timeout = 0.5s; }
backend nowhere none;

sub vcl_init {
  new keys = blob.blob(HEX, "53656372657421");
}

sub need_key {
  if (!req.http.X-Api-Key) {
    return (synth(401, "key missing"));
  }
  if (req.http.X-Api-Key !~ "^[0-9a-f]{8}$") {
    return (synth(403, "key malformed"));
  }
  set req.http.X-Key-Encoded = blob.transcode(HEX, BASE64URL, encoded=req.http.X-Api-Key);
}

sub pick_version {
  if (req.url ~ "^/v([0-9]+)/") {
    set req.http.X-Api-Version = regsub(req.url, "^/v([0-9]+)/.*", "\1");
    set req.url = regsub(req.url, "^/v[0-9]+", "");
  } elsif (req.http.Accept ~ "application/vnd\.acme\.v[0-9]+\+json") {
    set req.http.X-Api-Version = regsub(req.http.Accept, "^.*application/vnd\.acme\.v([0-9]+)\+json.*$", "\1");
  } else {
    set req.http.X-Api-Version = "1";
  }
  if (std.integer(req.http.X-Api-Version, 0) > 3) {
    return (synth(404, "no such version"));
  }
}

sub vcl_recv {
  if (req.method == "OPTIONS" && req.http.Origin) {
    return (synth(700));
  }
  if (req.method !~ "^(GET|HEAD|POST|PUT|PATCH|DELETE)$") {
    return (synth(405, "method"));
  }
  call need_key;
  call pick_version;
  if (req.url ~ "^/users") {
    set req.backend_hint = users;
  } else if (req.url ~ "^/orders") {
    set req.backend_hint = orders;
  } else if (req.url ~ "^/legacy") {
    set req.backend_hint = legacy;
  } else if (req.url ~ "^/nowhere") {
    set req.backend_hint = nowhere;
  } else {
    return (synth(404, "no such service"));
  }
  if (req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }
  return (hash);
}

sub vcl_hash {
  hash_data(req.http.X-Api-Version);
}

sub vcl_backend_fetch {
  set bereq.http.X-Signature = blob.encode(BASE64, blob=keys.get());
  set bereq.http.X-Attempt = bereq.retries;
}

sub vcl_backend_response {
  if (beresp.status == 503 && bereq.retries < 2 && bereq.method == "GET") {
    return (retry);
  }
  if (beresp.status >= 400) {
    set beresp.ttl = 0s;
    set beresp.uncacheable = true;
  } else {
    set beresp.ttl = std.duration(beresp.http.X-Life, 5s);
  }
}

sub vcl_backend_error {
  set beresp.http.Content-Type = "application/problem+json";
  synthetic({"{"title":""} + beresp.reason + {"","status":"} + beresp.status + {"}
"});
  if (bereq.backend == legacy) {
    set beresp.status = 504;
    set beresp.reason = "Legacy Is Away";
    set beresp.ttl = 1s;
  }
  return (deliver);
}

sub vcl_synth {
  set resp.http.Access-Control-Allow-Origin = "*";
  if (resp.status == 700) {
    set resp.status = 204;
    set resp.reason = "No Content";
    set resp.http.Access-Control-Allow-Methods = "GET, POST, PUT, PATCH, DELETE";
    if (req.http.Access-Control-Request-Headers) {
      set resp.http.Access-Control-Allow-Headers = req.http.Access-Control-Request-Headers;
    }
    set resp.http.Access-Control-Max-Age = "86400";
    return (deliver);
  }
  set resp.http.Content-Type = "application/problem+json";
  set resp.body = {"{"title":""} + resp.reason + {"","status":"} + resp.status + {"}
"};
  return (deliver);
}

sub vcl_deliver {
  set resp.http.Access-Control-Allow-Origin = "*";
  set resp.http.X-Api-Version = req.http.X-Api-Version;
  var.set("was", req.http.X-Key-Encoded);
  set resp.http.X-Key = var.get("was");
}
