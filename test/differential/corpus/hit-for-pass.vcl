# Pages for one person only: remembered as such, for a while, in both of the ways there are.
vcl 4.0;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  unset req.http.Cookie;
}

sub vcl_hit {
  set req.http.X-Was = "hit";
}

sub vcl_miss {
  set req.http.X-Was = "miss";
}

sub vcl_pass {
  set req.http.X-Was = "pass";
  if (req.http.X-No-Pass) {
    return (synth(409, "No pass"));
  }
}

sub vcl_backend_fetch {
  set bereq.http.X-Hitmiss = bereq.is_hitmiss;
  set bereq.http.X-Hitpass = bereq.is_hitpass;
  set bereq.http.X-Uncacheable = bereq.uncacheable;
}

sub vcl_backend_response {
  if (beresp.http.X-Kind == "pass") {
    return (pass(10s));
  }
  if (beresp.http.X-Kind == "short pass") {
    return (pass(0.4s));
  }
  if (beresp.http.X-Kind == "miss") {
    set beresp.uncacheable = true;
    set beresp.ttl = 10s;
    return (deliver);
  }
  if (beresp.http.Set-Cookie) {
    set beresp.uncacheable = true;
    set beresp.ttl = 0.4s;
    set beresp.grace = 0s;
    return (deliver);
  }
  set beresp.ttl = 30s;
}

sub vcl_deliver {
  set resp.http.X-Was = req.http.X-Was;
  set resp.http.X-Uncacheable = obj.uncacheable;
}
