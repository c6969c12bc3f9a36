# A switch for maintenance: staff sees the site, all others a page; what is in the cache may still be served.
vcl 4.0;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
backend down { .host = "127.0.0.1"; .port = "@DEAD@"; }

acl staff { "192.0.2.10"; "192.0.2.16"/28; }

sub vcl_recv {
  set req.http.X-Mode = "normal";
  if (req.http.X-Maintenance == "on") {
    set req.http.X-Mode = "maintenance";
    if (std.ip(req.http.X-Real-IP, "0.0.0.0") !~ staff) {
      if (req.url ~ "^/(checkout|login)") {
        return (synth(503, "Maintenance"));
      }
      set req.backend_hint = down;
    }
  }
  if (req.restarts > 0) {
    set req.http.X-Restarted = req.restarts;
    set req.backend_hint = default;
    set req.url = "/sorry.html";
  }
}

sub vcl_backend_error {
  if (bereq.http.X-Mode == "maintenance") {
    set beresp.status = 599;
    set beresp.reason = "Maintenance";
    return (deliver);
  }
}

sub vcl_deliver {
  if (resp.status == 599 && req.restarts == 0) {
    return (restart);
  }
  if (req.restarts > 0) {
    set resp.status = 503;
    set resp.http.Retry-After = "600";
  }
}

sub vcl_synth {
  set resp.http.Content-Type = "text/html; charset=utf-8";
  set resp.http.Retry-After = 600;
  if (resp.status == 503) {
    synthetic({"<!doctype html>
<title>"} + resp.status + " " + resp.reason + {"</title>
<p>We are back soon. "Thank you" for waiting."} + {"
"});
    return (deliver);
  }
}
