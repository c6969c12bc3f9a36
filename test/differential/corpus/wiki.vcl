# A wiki: anonymous readers from the cache, logged in ones not, purges by the application on every edit.
vcl 4.1;

import std;

backend default {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .max_connections = 250;
  .first_byte_timeout = 30s;
}

acl application { "127.0.0.1"; "::1"; }

sub vcl_recv {
  if (req.restarts == 0 && req.http.X-Forwarded-For ~ ",") {
    set req.http.X-Forwarded-For = regsub(req.http.X-Forwarded-For, "^.*,\s*", "");
  }
  if (req.method == "PURGE") {
    if (client.ip !~ application) {
      return (synth(405, "Not allowed."));
    }
    return (purge);
  }
  if (req.http.Accept-Encoding) {
    if (req.http.User-Agent ~ "MSIE 6") {
      unset req.http.Accept-Encoding;
    } elsif (req.http.Accept-Encoding ~ "gzip") {
      set req.http.Accept-Encoding = "gzip";
    } else {
      unset req.http.Accept-Encoding;
    }
  }
  if (req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }
  if (req.http.Authorization || req.http.Cookie ~ "wiki(Session|Token)=" || req.url ~ "action=(edit|submit|history)") {
    return (pass);
  }
  unset req.http.Cookie;
  set req.url = regsub(req.url, "^/index\.php\?title=([^&]+)$", "/wiki/\1");
  if (req.url ~ "^/wiki/Special:(?!Recent)") {
    return (pass);
  }
  return (hash);
}

sub vcl_backend_response {
  if (beresp.http.Cache-Control !~ "s-maxage" && bereq.url ~ "^/wiki/") {
    set beresp.ttl = 1h;
  }
  if (beresp.http.Set-Cookie && !bereq.uncacheable) {
    set beresp.uncacheable = true;
    set beresp.ttl = 120s;
    return (deliver);
  }
  if (beresp.http.X-Vary-Options) {
    set beresp.http.Vary = "Accept-Encoding";
  }
  set beresp.grace = 2m;
}

sub vcl_deliver {
  if (req.url ~ "^/wiki/" && resp.status == 200) {
    set resp.http.Cache-Control = "private, s-maxage=0, max-age=0, must-revalidate";
    unset resp.http.Age;
  }
  unset resp.http.X-Vary-Options;
}

sub vcl_purge {
  return (synth(200, "Purged"));
}
