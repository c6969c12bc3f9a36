# Visitors stay with the server they began with: by cookie, by identity, by the ring.
vcl 4.1;

import std;
import directors;
import cookie;

backend n1 { .host = "127.0.0.1"; .port = "@ORIGIN@"; .host_header = "n1"; }
backend n2 { .host = "127.0.0.1"; .port = "@ORIGIN@"; .host_header = "n2"; }
backend n3 { .host = "127.0.0.1"; .port = "@DEAD@"; .host_header = "n3"; }

sub vcl_init {
  new ring = directors.shard();
  ring.add_backend(n1);
  ring.add_backend(n2);
  ring.add_backend(n3);
  if (!ring.reconfigure(50)) {
    return (fail("no ring"));
  }
  new byclient = directors.hash();
  byclient.add_backend(n1, 1.0);
  byclient.add_backend(n2, 1.0);
  new order = directors.fallback(1);
  order.add_backend(n3);
  order.add_backend(n1);
}

sub vcl_recv {
  cookie.parse(req.http.Cookie);
  if (cookie.get("node") == "n1") {
    set req.backend_hint = n1;
  } elseif (cookie.get("node") == "n2") {
    set req.backend_hint = n2;
  } elseif (req.http.X-User) {
    set client.identity = req.http.X-User;
    set req.backend_hint = byclient.backend(client.identity);
  } elseif (req.url ~ "^/ring") {
    set req.backend_hint = ring.backend(by = KEY, key = ring.key(req.url));
  } elseif (req.url ~ "^/alt") {
    set req.backend_hint = ring.backend(by = KEY, key = 1234567, alt = req.restarts, healthy = CHOSEN);
  } else {
    set req.backend_hint = order.backend();
  }
  if (req.restarts == 1 && req.url ~ "^/order") {
    set req.backend_hint = n2;
  }
  return (pass);
}

sub vcl_backend_fetch {
  unset bereq.http.Host;
}

sub vcl_deliver {
  if (resp.status == 503 && req.restarts == 0) {
    return (restart);
  }
  set resp.http.Set-Cookie = "node=" + regsub(resp.http.X-Node, "^.*n", "n");
  set resp.http.X-Restarts = req.restarts;
  set resp.http.X-Identity = client.identity;
}

sub vcl_backend_response {
  set beresp.http.X-Node = beresp.backend.name;
}
