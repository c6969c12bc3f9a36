# A news site: short lives, long grace, sections with lives of their own, breaking news by bans.
vcl 4.0;

import std;
import directors;

probe alive {
  .url = "/alive";
  .interval = 5s;
  .timeout = 1s;
  .window = 5;
  .threshold = 3;
  .initial = 4;
}

backend desk1 { .host = "127.0.0.1"; .port = "@ORIGIN@"; .probe = alive; }
backend desk2 { .host = "127.0.0.1"; .port = "@ORIGIN@"; .probe = alive; }
backend archive {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .probe = { .request = "HEAD /alive HTTP/1.1" "Host: archive.test" "Connection: close"; .initial = 8; .interval = 60s; }
}

sub vcl_init {
  new desks = directors.fallback(sticky = false);
  desks.add_backend(desk1);
  desks.add_backend(desk2);
  new past = directors.hash();
  past.add_backend(archive, 1.0);
  return (ok);
}

sub vcl_fini {
  return (ok);
}

sub vcl_recv {
  if (req.url ~ "^/archive/[0-9]{4}/") {
    set req.backend_hint = past.backend(req.url);
  } else {
    set req.backend_hint = desks.backend();
  }
  if (!std.healthy(req.backend_hint)) {
    set req.grace = 2h;
  } else {
    set req.grace = 1.5s;
  }
  if (req.method == "REFRESH") {
    set req.method = "GET";
    set req.hash_always_miss = true;
  }
  # Readers from feeds get the page all others get.
  set req.url = regsub(req.url, "\?(rss|atom|amp)$", "");
  if (req.url ~ "\?$") {
    set req.url = regsub(req.url, "\?$", "");
  }
  unset req.http.cookie;
  if (req.url ~ "^/live/") {
    set req.hash_ignore_busy = true;
  }
}

sub vcl_hit {
  if (obj.ttl >= 0s) {
    return (deliver);
  }
  if (obj.ttl + obj.grace > 0s && !std.healthy(req.backend_hint)) {
    set req.http.X-Stale = "sick";
    return (deliver);
  }
  set req.http.X-Stale = "grace";
  return (deliver);
}

sub vcl_miss {
  if (req.url ~ "^/never/") {
    return (synth(410, "Retracted"));
  }
  return (fetch);
}

sub vcl_backend_response {
  if (bereq.url == "/" || bereq.url ~ "^/section/") {
    set beresp.ttl = 1s;
    set beresp.grace = 1h;
  } elsif (bereq.url ~ "^/archive/") {
    set beresp.ttl = 4w;
    set beresp.keep = 1d;
  } elsif (bereq.url ~ "^/live/") {
    set beresp.ttl = 0.5s;
    set beresp.grace = 0s;
    set beresp.keep = 0s;
  } else {
    set beresp.ttl = 5m;
  }
  if (beresp.http.X-Breaking) {
    ban("obj.http.X-Section == front");
  }
  if (beresp.status == 304) {
    set beresp.http.X-Reval = "yes";
  }
  set beresp.http.X-Ttl = beresp.ttl;
  set beresp.http.X-Grace = beresp.grace;
  return (deliver);
}

sub vcl_deliver {
  if (req.http.X-Stale) {
    set resp.http.X-Stale = req.http.X-Stale;
  }
  set resp.http.X-Hits = obj.hits;
  set resp.http.X-Uncacheable = obj.uncacheable;
  return (deliver);
}
