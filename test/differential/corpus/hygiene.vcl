# Fields in both directions: what is dropped, what is added, what is rewritten, names of all kinds.
vcl 4.1;

import std;
import header;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  unset req.http.Proxy;
  unset req.http.X-Original-URL;
  unset req.http.X-Rewrite-Url;
  set req.http.Accept-Encoding = regsub(req.http.Accept-Encoding, ".*gzip.*", "gzip");
  if (req.http.Accept-Encoding != "gzip") {
    unset req.http.Accept-Encoding;
  }
  std.collect(req.http.X-List);
  std.collect(req.http.X-Pipes, "|");
  set req.http."x.dotted" = "dot";
  set req.http.X_under = "score";
  set req.http."quoted!name" = "quoted";
  if (req.http."odd|name" || req.http.X-Empty == "") {
    set req.http.X-Is-Empty = "yes";
  }
  set req.http.X-Copy = req.http.User-Agent;
  set req.http.X-Numbers = 1 + 2;
  set req.http.X-Real = 1.0 / 3.0;
  set req.http.X-Bool = (req.method == "GET");
  set req.http.X-Not = !(req.url ~ "^/x");
  set req.http.X-Duration = 1h + 30m;
  set req.http.X-Negative = 5 - 10;
  set req.http.X-Div = 7 / 2;
  set req.http.X-Mixed = 3.0 * 2;
  set req.http.X-Long = {"one "two" {three} "} + "four";
  set req.http.X-Long2 = """five "six" {"seven"}""";
  set req.http.X-Ip = client.ip;
  set req.http.X-Chain = "a" + "b" + "c";
  if (std.syntax(4.1) && !std.syntax(4.2)) {
    set req.http.X-Syntax = "4.1";
  }
}

sub vcl_backend_fetch {
  unset bereq.http.X-Forwarded-For;
  header.remove(bereq.http.X-Multi, "^drop");
}

sub vcl_backend_response {
  unset beresp.http.Server;
  unset beresp.http.X-AspNet-Version;
  set beresp.http.Strict-Transport-Security = "max-age=" + std.integer(duration = 1y, fallback = 0);
  set beresp.http.X-Content-Type-Options = "nosniff";
  if (!beresp.http.X-Frame-Options) {
    set beresp.http.X-Frame-Options = "DENY";
  }
  set beresp.http.Content-Security-Policy = {"default-src 'self'; img-src *; report-uri "/csp""};
  if (beresp.http.Link) {
    std.collect(beresp.http.Link);
  }
}

sub vcl_deliver {
  unset resp.http.Via;
  unset resp.http.X-Varnish;
  unset resp.http.Age;
  set resp.http.X-Request = req.method + " " + req.url + " " + req.proto;
  if (resp.http.Content-Type ~ "text/html" && resp.http.Content-Type !~ "charset") {
    set resp.http.Content-Type = resp.http.Content-Type + "; charset=utf-8";
  }
  set resp.http.Server = "none of your business";
}
