# Directors of every kind with probes, sick members and directors behind directors.
vcl 4.1;

import std;
import directors;
import blob;

probe up {
  .url = "/alive";
  .interval = 30s;
  .timeout = 2s;
  .initial = 8;
}

probe never {
  .url = "/alive";
  .expected_response = 204;
  .interval = 30s;
  .initial = 0;
}

backend w1 { .host = "127.0.0.1"; .port = "@ORIGIN@"; .probe = up; }
backend w2 { .host = "127.0.0.1"; .port = "@ORIGIN@"; .probe = up; }
backend w3 { .host = "127.0.0.1"; .port = "@ORIGIN@"; .probe = never; }
backend spare { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
backend nobody none;

sub vcl_init {
  new rr = directors.round_robin();
  rr.add_backend(w1);
  rr.add_backend(w2);
  rr.add_backend(w3);
  new fb = directors.fallback();
  fb.add_backend(w3);
  fb.add_backend(w2);
  new sticky = directors.hash();
  sticky.add_backend(w1, 1);
  sticky.add_backend(w2, 1);
  new one = directors.random();
  one.add_backend(spare, 10);
  one.add_backend(w3, 100);
  new ring = directors.shard();
  ring.add_backend(w1, "alpha");
  ring.add_backend(w2, "beta");
  ring.add_backend(spare, "gamma");
  ring.set_warmup(0.0);
  ring.set_rampup(0s);
  ring.reconfigure(25);
  new p = directors.shard_param();
  p.set(by = URL, healthy = ALL);
  ring.associate(p.use());
  new keyed = directors.shard_param();
  new nested = directors.fallback();
  nested.add_backend(fb.backend());
  nested.add_backend(spare);
  new empty = directors.round_robin();
}

sub vcl_recv {
  unset req.http.X-Healthy;
  if (req.url ~ "^/rr") {
    set req.backend_hint = rr.backend();
  } elsif (req.url ~ "^/fb") {
    set req.backend_hint = fb.backend();
  } elsif (req.url ~ "^/hash") {
    set req.backend_hint = sticky.backend(req.http.X-User);
  } elsif (req.url ~ "^/random") {
    set req.backend_hint = one.backend();
  } elsif (req.url ~ "^/ring") {
    set req.backend_hint = ring.backend();
    set req.http.X-Key = ring.key(req.url);
  } elsif (req.url ~ "^/key") {
    keyed.set(by = KEY, key = ring.key(req.http.X-User), alt = 1);
    set req.http.X-Key = keyed.get_key();
    set req.http.X-By = keyed.get_by() + " " + keyed.get_alt();
    set req.backend_hint = ring.backend(param = keyed.use());
  } elsif (req.url ~ "^/blob") {
    set req.backend_hint = ring.backend(by = BLOB, key_blob = blob.decode(HEX, encoded = "00ff00ff"));
  } elsif (req.url ~ "^/nested") {
    set req.backend_hint = nested.backend();
  } elsif (req.url ~ "^/empty") {
    set req.backend_hint = empty.backend();
  } elsif (req.url ~ "^/nobody") {
    set req.backend_hint = nobody;
  } elsif (req.url ~ "^/sick") {
    set req.backend_hint = w3;
  }
  set req.http.X-Healthy = std.healthy(req.backend_hint);
  return (pass);
}

sub vcl_backend_response {
  set beresp.http.X-Backend = beresp.backend + "," + beresp.backend.name + "," + bereq.backend;
}

sub vcl_backend_error {
  set beresp.http.X-Backend = "none," + bereq.backend;
}

sub vcl_deliver {
  set resp.http.X-Healthy = req.http.X-Healthy;
  set resp.http.X-Key = req.http.X-Key;
  set resp.http.X-By = req.http.X-By;
}
