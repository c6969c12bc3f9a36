# Invalidation for editors: exact addresses, expressions, tags; with an answer that says what was done.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

acl invalidators +pedantic {
  "127.0.0.1";
  "::1";
}

sub deny {
  if (client.ip !~ invalidators || req.http.X-Deny) {
    std.log("invalidation refused for " + client.ip);
    return (synth(403, "Invalidation not allowed"));
  }
}

sub vcl_recv {
  if (req.method == "PURGE") {
    call deny;
    if (req.http.X-Soft) {
      set req.http.X-Purged-Softly = "no such thing here";
    }
    return (purge);
  }
  if (req.method == "BAN") {
    call deny;
    if (req.http.X-Expression) {
      if (std.ban(req.http.X-Expression)) {
        return (synth(200, "Banned"));
      }
      return (synth(400, std.ban_error()));
    } elsif (req.http.X-Ban-Tag) {
      if (std.ban("obj.http.X-Tags ~ \b" + req.http.X-Ban-Tag + "\b")) {
        return (synth(200, "Tag banned"));
      } else {
        return (synth(400, "Bad tag"));
      }
    } elsif (req.http.X-Ban-Host) {
      ban("obj.http.X-Host == " + req.http.X-Ban-Host);
      return (synth(200, "Host banned"));
    } else {
      return (synth(400, "What shall be banned?"));
    }
  }
  if (req.method == "REFRESH") {
    call deny;
    set req.method = "GET";
    set req.hash_always_miss = true;
  }
}

sub vcl_purge {
  if (req.method == "PURGE" && req.http.X-Then == "fetch") {
    set req.method = "GET";
    unset req.http.X-Then;
    return (restart);
  }
  return (synth(200, "Purged " + req.url));
}

sub vcl_backend_response {
  # Kept for bans of the lurker, hidden from clients.
  set beresp.http.X-Url = bereq.url;
  set beresp.http.X-Host = bereq.http.Host;
  set beresp.ttl = 10m;
}

sub vcl_deliver {
  unset resp.http.X-Url;
  unset resp.http.X-Host;
  unset resp.http.X-Tags;
  set resp.http.X-Hits = obj.hits;
}

sub vcl_synth {
  set resp.http.Content-Type = "text/plain; charset=utf-8";
  synthetic(resp.status + " " + resp.reason + {"
"});
  return (deliver);
}
