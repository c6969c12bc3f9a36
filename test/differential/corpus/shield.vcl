# A cache in front of caches: lives are computed, ages handed on, stale answers told from fresh ones.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

acl edges { "127.0.0.1"; "198.51.100.0"/24; }

sub vcl_recv {
  if (client.ip !~ edges) {
    return (synth(403));
  }
  if (req.http.X-Edge-Hops) {
    set req.http.X-Edge-Hops = std.integer(req.http.X-Edge-Hops, 0) + 1;
  } else {
    set req.http.X-Edge-Hops = 1;
  }
  if (std.integer(req.http.X-Edge-Hops, 0) > 4) {
    return (synth(508, "Loop Detected"));
  }
  std.collect(req.http.X-Debug);
}

sub vcl_backend_response {
  set beresp.http.X-Life = beresp.ttl;
  if (beresp.http.Surrogate-Control ~ "max-age=\d+") {
    set beresp.ttl = std.duration(regsub(beresp.http.Surrogate-Control, "^.*max-age=(\d+).*$", "\1") + "s", 10s);
    unset beresp.http.Surrogate-Control;
  } elsif (beresp.http.Cache-Control ~ "stale-while-revalidate=\d+") {
    set beresp.grace = std.duration(regsub(beresp.http.Cache-Control, "^.*stale-while-revalidate=(\d+).*$", "\1") + "s", 0s);
  }
  if (beresp.http.Expires && !beresp.http.Cache-Control) {
    set beresp.http.X-Until = std.time(beresp.http.Expires, now);
  }
  if (beresp.ttl > 1d) {
    set beresp.ttl = 1d;
  }
  set beresp.ttl = beresp.ttl / 2;
  if (beresp.status == 404 || beresp.status == 410) {
    set beresp.ttl = 15s;
  }
  set beresp.http.X-Kept = beresp.ttl + "/" + beresp.grace + "/" + beresp.keep;
}

sub vcl_deliver {
  set resp.http.X-Hops = req.http.X-Edge-Hops;
  if (obj.hits == 0) {
    set resp.http.X-Shield = "miss";
  } elsif (obj.ttl > 0s) {
    set resp.http.X-Shield = "hit";
  } else {
    set resp.http.X-Shield = "stale";
  }
  set resp.http.X-Cache-Hits = obj.hits;
}
