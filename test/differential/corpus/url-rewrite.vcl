# One front for several old applications: paths are moved, hosts mapped, fields renamed on the way.
vcl 4.1;

import std;
import header;

backend app { .host = "127.0.0.1"; .port = "@ORIGIN@"; .host_header = "app.internal:8080"; }
backend files { .host = "127.0.0.1"; .port = "@ORIGIN@"; .host_header = "files.internal"; }

sub map_hosts {
  if (req.http.Host == "files.rewrite.test") {
    set req.backend_hint = files;
    set req.url = "/store" + req.url;
  } elsif (req.http.Host ~ "^([a-z]{2})\.rewrite\.test$") {
    set req.url = "/" + regsub(req.http.Host, "^([a-z]{2})\..*", "\1") + req.url;
    set req.http.Host = "url-rewrite.test";
  }
}

sub vcl_recv {
  # Absolute targets were taken apart before; what is left of them is a path.
  call map_hosts;
  if (req.url ~ "^/app/") {
    set req.url = regsub(req.url, "^/app/", "/application/v2/");
  }
  set req.url = regsub(req.url, "^/(\w+)/(\d+)\.(html|json)$", "/\1.php?id=\2&format=\3");
  set req.url = regsuball(req.url, "([aeiou])\1", "<\0>");
  if (req.url ~ "^/backref") {
    set req.url = regsub(req.url, "^(/)(b)(a)(c)(k)(r)(e)(f)(/)(.)(.*)$", "\1\9\8\7\6\5\4\3\2\0");
  }
  if (req.url == "/empty") {
    set req.url = "";
  }
  if (req.url == "/blank") {
    set req.url = "/a+b";
  }
  if (req.url !~ "^/") {
    set req.url = "/" + req.url;
  }
  if (req.url ~ "^/bare$" && req.http.X-Rename) {
    set req.http.X-New-Name = req.http.X-Rename;
    unset req.http.X-Rename;
  }
  header.regsub(req, "^X-Legacy-(\w+): (.*)$", "X-Modern-\1: [\2]");
}

sub vcl_backend_fetch {
  if (bereq.backend == files) {
    unset bereq.http.Accept-Encoding;
    set bereq.http.Host = "s3.files.internal";
  } else {
    unset bereq.http.Host;
  }
  set bereq.http.X-Original-Url = bereq.url;
  set bereq.url = regsub(bereq.url, "\?$", "");
}

sub vcl_backend_response {
  if (beresp.http.Location) {
    set beresp.http.Location = regsub(beresp.http.Location, "^https?://(app|files)\.internal(:\d+)?(/store)?", "");
  }
  if (beresp.http.Set-Cookie) {
    set beresp.http.Set-Cookie = regsuball(beresp.http.Set-Cookie, "(?i);\s*domain=[^;]*", "");
  }
  set beresp.http.X-Sent-Url = bereq.url;
  set beresp.ttl = 1m;
  unset beresp.http.X-Internal-Host;
}
