# A stage before the live site: files of the machine, environment, switches by cookie, notes of who did what.
vcl 4.0;

import std;
import cookie;
import str;

backend live { .host = "127.0.0.1"; .port = "@ORIGIN@"; .host_header = "live"; }
backend stage {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .host_header = "stage";
  .connect_timeout = 1s;
}

sub vcl_recv {
  cookie.parse(req.http.Cookie);
  if (cookie.get("stage") == "on" || req.http.X-Stage) {
    set req.backend_hint = stage;
    set req.http.X-Where = "stage";
  } else {
    set req.backend_hint = live;
    set req.http.X-Where = "live";
  }
  if (req.url == "/switch/on" || req.url == "/switch/off") {
    return (synth(710, str.split(req.url, 2, "/")));
  }
  if (req.url == "/env") {
    set req.http.X-Env = "<" + std.getenv("SURELY_NOT_SET_ANYWHERE") + ">";
    set req.http.X-File = std.file_exists("/etc/passwd") + " " + std.file_exists("/no/such/file");
    return (synth(200, req.http.X-Env + req.http.X-File));
  }
  if (req.url ~ "^/maintenance" && std.file_exists("/no/such/flag")) {
    return (synth(503));
  }
  if (req.esi_level > 0) {
    return (synth(500, "No fragments here"));
  }
  set req.esi = false;
  std.cache_req_body(2KB);
  if (req.method == "POST" && req.http.Content-Length ~ "^\d+$" && std.integer(req.http.Content-Length, 0) > 20) {
    return (synth(413, "Too much"));
  }
}

sub vcl_hash {
  hash_data(req.http.X-Where);
}

sub vcl_backend_fetch {
  if (bereq.method == "POST" && bereq.retries == 0) {
    set bereq.http.X-First = "1";
  } else {
    unset bereq.http.X-First;
  }
}

sub vcl_backend_response {
  if (beresp.status == 500 && bereq.retries == 0) {
    return (retry);
  }
  set beresp.http.X-From = beresp.backend;
  set beresp.ttl = 30s;
}

sub vcl_synth {
  if (resp.status == 710) {
    set resp.status = 303;
    set resp.http.Location = "/";
    set resp.http.Set-Cookie = "stage=" + resp.reason + "; expires=" +
      cookie.format_date(std.time("Thu, 01 Jan 2015 00:00:00 GMT"), 1d) + "; path=/";
    set resp.reason = "See Other";
    return (deliver);
  }
  synthetic(str.reverse(resp.reason) + "|" + str.count(resp.reason) + "|" + str.take(resp.reason, 4, 1));
  return (deliver);
}

sub vcl_deliver {
  set resp.http.X-Where = req.http.X-Where;
}
