# Pages for all that can go wrong: by the client, by the program, by the origin, each with its own look.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; .first_byte_timeout = 0.4s; }
backend closed { .host = "127.0.0.1"; .port = "@DEAD@"; }
backend none_at_all none;

sub vcl_recv {
  if (req.url ~ "^/synth/") {
    return (synth(std.integer(regsub(req.url, "^/synth/(\d+).*$", "\1"), 500)));
  }
  if (req.url ~ "^/reason/") {
    return (synth(400, regsub(req.url, "^/reason/", "")));
  }
  if (req.url == "/fail") {
    return (fail("as told"));
  }
  if (req.url == "/closed") {
    set req.backend_hint = closed;
  }
  if (req.url == "/none") {
    set req.backend_hint = none_at_all;
  }
  if (req.url == "/restarts") {
    return (restart);
  }
}

sub vcl_hash {
  if (req.url == "/fail-in-hash") {
    return (fail);
  }
}

sub vcl_miss {
  if (req.url == "/fail-in-miss") {
    return (fail);
  }
}

sub vcl_deliver {
  if (req.url == "/fail-in-deliver") {
    return (fail);
  }
  if (req.url == "/synth-in-deliver") {
    return (synth(599, "changed my mind"));
  }
}

sub vcl_backend_response {
  if (beresp.status >= 400) {
    set beresp.http.X-Origin-Error = beresp.status + " " + beresp.reason;
  }
  if (bereq.url == "/error-with-status") {
    return (error(530, "Made in response"));
  }
}

sub page_head {
  set resp.http.Content-Type = "text/html; charset=utf-8";
  set resp.http.Cache-Control = "no-store";
}

sub vcl_synth {
  call page_head;
  if (resp.status == 200) {
    set resp.body = "fine";
  } elseif (resp.status < 400) {
    set resp.http.Location = "/";
    set resp.body = "";
  } elseif (resp.status < 500) {
    set resp.body = {"<h1>Your fault: "} + resp.status + {"</h1>"};
    set resp.body = resp.reason;
  } else {
    synthetic("<h1>Our fault: " + resp.status);
    synthetic(" " + resp.reason + "</h1>");
    if (req.url == "/synth/503") {
      unset resp.http.Retry-After;
    }
  }
  return (deliver);
}

sub vcl_backend_error {
  synthetic("origin: " + beresp.status + " " + beresp.reason + " " + bereq.backend + " " + bereq.retries);
  set beresp.http.Retry-After = "7";
  return (deliver);
}
