# Fetches are tried again with another backend, and what fails for good gets a page made in vcl_backend_error.
vcl 4.1;

import std;
import directors;

backend first { .host = "127.0.0.1"; .port = "@ORIGIN@"; .first_byte_timeout = 0.5s; }
backend second { .host = "127.0.0.1"; .port = "@ORIGIN@"; .host_header = "second"; }
backend dead { .host = "127.0.0.1"; .port = "@DEAD@"; }

sub vcl_init {
  new all = directors.fallback();
  all.add_backend(first);
  all.add_backend(second);
}

sub vcl_recv {
  set req.backend_hint = all.backend();
  if (req.http.X-Dead) {
    set req.backend_hint = dead;
  }
}

sub vcl_backend_fetch {
  set bereq.http.X-Try = bereq.retries;
  if (bereq.retries > 0) {
    set bereq.backend = second;
    set bereq.http.X-Was = bereq.http.X-Status;
  }
  if (bereq.url == "/abandon") {
    return (abandon);
  }
  if (bereq.url == "/error") {
    return (error(507, "Not even tried"));
  }
  if (bereq.url == "/fail-here") {
    return (fail);
  }
}

sub vcl_backend_response {
  if (beresp.status >= 500 && beresp.status < 600) {
    set bereq.http.X-Status = beresp.status;
    if (bereq.retries == 0 && beresp.status == 500) {
      return (retry);
    }
    if (beresp.status == 502) {
      return (error(599, "Bad gateway behind"));
    }
    if (beresp.status == 503) {
      return (abandon);
    }
    if (bereq.url == "/for-ever") {
      return (retry);
    }
  }
  if (bereq.url == "/fail-there") {
    return (fail("no reason at all"));
  }
  set beresp.http.X-Tries = bereq.retries;
  set beresp.ttl = 30s;
}

sub vcl_backend_error {
  if (bereq.http.X-Dead && bereq.retries == 0) {
    set bereq.http.X-Dead = "revived";
    return (retry);
  }
  set beresp.http.X-Tries = bereq.retries;
  set beresp.http.X-Reason = beresp.reason;
  set beresp.ttl = 2s;
  set beresp.grace = 0s;
  set beresp.http.Content-Type = "text/plain";
  set beresp.body = "" + beresp.status + {"
"} + beresp.reason + {"
"};
  if (bereq.url == "/fail-again") {
    return (fail);
  }
  return (deliver);
}
