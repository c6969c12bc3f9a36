# Countries by address blocks, a table of languages, regions with backends of their own.
vcl 4.1;

import std;
import directors;

backend eu1 { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
backend eu2 { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
backend us { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

acl europe -pedantic {
  "192.0.2.0"/25;
  "2001:db8:1::"/48;
  ! "192.0.2.64"/26;
}
acl america +log {
  "198.51.100.0"/24;
  "192.0.2.64"/26;
}
acl asia +log +table {
  "203.0.113.0"/24;
  "203.0.113.128"/25;
}

sub vcl_init {
  new eu = directors.round_robin();
  eu.add_backend(eu1);
  eu.add_backend(eu2);
}

sub locate {
  set req.http.X-Country = "ZZ";
  if (std.ip(req.http.X-Real-IP, "0.0.0.0") ~ europe) {
    set req.http.X-Country = "EU";
  } elseif (std.ip(req.http.X-Real-IP, "0.0.0.0") ~ america) {
    set req.http.X-Country = "US";
  } elseif (std.ip(req.http.X-Real-IP, "0.0.0.0") ~ asia) {
    set req.http.X-Country = "AS";
  }
}

sub language {
  if (req.http.Accept-Language ~ "^(?i)de\b") {
    set req.http.X-Lang = "de";
  } elseif (req.http.Accept-Language ~ "^(?i)fr\b") {
    set req.http.X-Lang = "fr";
  } else {
    set req.http.X-Lang = "en";
  }
  unset req.http.Accept-Language;
}

sub vcl_recv {
  if (!req.http.X-Real-IP) {
    set req.http.X-Real-IP = regsub(req.http.X-Forwarded-For, "[, ].*$", "");
  }
  call locate;
  call language;
  if (req.http.X-Country == "US") {
    set req.backend_hint = us;
  } else {
    set req.backend_hint = eu.backend();
  }
  if (req.url == "/") {
    return (synth(760, "/" + std.tolower(req.http.X-Country) + "/" + req.http.X-Lang + "/"));
  }
  if (req.url ~ "^/blocked" && req.http.X-Country == "AS") {
    return (synth(451, "Unavailable For Legal Reasons"));
  }
}

sub vcl_backend_response {
  set beresp.http.X-Backend = beresp.backend.name;
  set beresp.http.Vary = "X-Country, X-Lang";
}

sub vcl_synth {
  if (resp.status == 760) {
    set resp.http.Location = resp.reason;
    set resp.http.X-Port = std.port(std.ip("10.1.2.3", "0.0.0.0", p = "8080"));
    set resp.status = 303;
    set resp.reason = "See Other";
    return (deliver);
  }
}

sub vcl_deliver {
  set resp.http.X-Country = req.http.X-Country;
  set resp.http.X-Real = std.ip(req.http.X-Real-IP, "0.0.0.0");
}
