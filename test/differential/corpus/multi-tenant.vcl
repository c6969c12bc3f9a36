# Customers under one roof: a table of hosts, limits and switches each, fields that tell the origin who it is.
vcl 4.1;

import std;
import str;

backend shared { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
backend gold { .host = "127.0.0.1"; .port = "@ORIGIN@"; .host_header = "gold"; }

sub tenant {
  unset req.http.X-Tenant;
  unset req.http.X-Plan;
  if (req.http.Host ~ "^(?i)(acme|globex|initech)\.multi-tenant\.test$") {
    set req.http.X-Tenant = std.tolower(str.split(req.http.Host, 1, "."));
  } elseif (req.url ~ "^/~[a-z]+/") {
    set req.http.X-Tenant = regsub(req.url, "^/~([a-z]+)/.*$", "\1");
    set req.url = regsub(req.url, "^/~[a-z]+", "");
  }
  if (req.http.X-Tenant == "acme") {
    set req.http.X-Plan = "gold";
    set req.backend_hint = gold;
  } elseif (req.http.X-Tenant) {
    set req.http.X-Plan = "basic";
  } else {
    return (synth(421, "Who are you looking for?"));
  }
}

sub vcl_recv {
  call tenant;
  if (req.http.X-Tenant == "initech" && req.url ~ "^/beta") {
    return (synth(402, "Payment Required"));
  }
  if (str.startswith(req.url, "/export") && req.http.X-Plan != "gold") {
    return (synth(403, "Only for gold"));
  }
  if (str.contains(req.url, "nocache")) {
    return (pass);
  }
}

sub vcl_hash {
  hash_data(req.http.X-Tenant);
  hash_data(req.url);
  return (lookup);
}

sub vcl_backend_fetch {
  set bereq.http.X-Customer = bereq.http.X-Tenant + "/" + bereq.http.X-Plan;
  set bereq.http.Host = bereq.http.X-Tenant + ".internal";
}

sub vcl_backend_response {
  if (bereq.http.X-Plan == "gold") {
    set beresp.ttl = 1h;
  } elsif (beresp.ttl > 10s) {
    set beresp.ttl = 10s;
  }
  if (beresp.age > 60s) {
    set beresp.http.X-Old = beresp.age;
  }
}

sub vcl_deliver {
  set resp.http.X-Tenant = req.http.X-Tenant;
  if (obj.hits > 0) {
    set resp.http.X-Hits = obj.hits;
  }
}
