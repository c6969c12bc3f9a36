# The language of a page by address, cookie or Accept-Language, in that order; one object a language.
vcl 4.0;

import std;
import cookie;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub choose {
  set req.http.X-Lang = "";
  if (req.url ~ "^/(en|de|fr|pt-br)(/|$)") {
    set req.http.X-Lang = regsub(req.url, "^/([a-z-]+).*$", "\1");
    return;
  }
  cookie.parse(req.http.Cookie);
  if (cookie.get("lang") ~ "^(en|de|fr|pt-br)$") {
    set req.http.X-Lang = cookie.get("lang");
    return;
  }
  # The first of those we have; weights are for purists.
  if (req.http.Accept-Language) {
    set req.http.X-Lang = regsub(std.tolower(req.http.Accept-Language), "^(?:(?!\b(?:en|de|fr|pt-br)\b).)*\b(en|de|fr|pt-br)\b.*$", "\1");
    if (req.http.X-Lang !~ "^(en|de|fr|pt-br)$") {
      set req.http.X-Lang = "";
    }
  }
  if (req.http.X-Lang == "") {
    set req.http.X-Lang = "en";
  }
}

sub vcl_recv {
  call choose;
  set req.http.Accept-Language = req.http.X-Lang;
  if (req.url == "/") {
    return (synth(751, "/" + req.http.X-Lang + "/"));
  }
  unset req.http.Cookie;
}

sub vcl_backend_response {
  set beresp.http.Content-Language = bereq.http.X-Lang;
  if (beresp.http.Vary ~ "(?i)accept-language") {
    set beresp.http.X-Varied = "yes";
  } else {
    set beresp.http.Vary = "Accept-Language";
  }
  set beresp.ttl = 1m;
}

sub vcl_synth {
  if (resp.status == 751) {
    set resp.status = 302;
    set resp.http.Location = resp.reason;
    set resp.http.Vary = "Accept-Language, Cookie";
    set resp.reason = "Found";
    synthetic("<a href='" + resp.http.Location + "'>here</a>");
    return (deliver);
  }
}
