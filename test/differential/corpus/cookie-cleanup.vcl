# What belongs into a Cookie field and what does not: with the cookie functions and without them.
vcl 4.0;

import std;
import cookie;
import header;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_init {
}

sub with_functions {
  cookie.parse(req.http.Cookie);
  if (req.http.X-Do == "keep") {
    cookie.keep("a,b,sess");
  } elsif (req.http.X-Do == "keep_re") {
    cookie.keep_re("^(s|b)");
  } elsif (req.http.X-Do == "filter") {
    cookie.filter("a,b");
  } elsif (req.http.X-Do == "filter_re") {
    cookie.filter_re("^_g|^a$");
  } elsif (req.http.X-Do == "delete") {
    cookie.delete("a");
    cookie.delete("absent");
  } elsif (req.http.X-Do == "set") {
    cookie.set("a", "new");
    cookie.set("z", "last");
    cookie.set("e", "");
  } elsif (req.http.X-Do == "clean") {
    cookie.clean();
  } elsif (req.http.X-Do == "again") {
    cookie.parse("only=this; a=2");
  } elsif (req.http.X-Do == "get") {
    set req.http.X-A = cookie.get("a");
    set req.http.X-Re = cookie.get_re("^se");
    set req.http.X-None = cookie.get("none");
    set req.http.X-Is = cookie.isset("a");
    set req.http.X-Is-Not = cookie.isset("none");
  } elsif (req.http.X-Do == "date") {
    set req.http.X-Date = cookie.format_date(std.time("2020-02-28T00:00:00"), 2d);
  }
  set req.http.Cookie = cookie.get_string();
}

sub by_hand {
  set req.http.Cookie = ";" + req.http.Cookie;
  set req.http.Cookie = regsuball(req.http.Cookie, "; +", ";");
  set req.http.Cookie = regsuball(req.http.Cookie, ";(sess)=", "; \1=");
  set req.http.Cookie = regsuball(req.http.Cookie, ";[^ ][^;]*", "");
  set req.http.Cookie = regsuball(req.http.Cookie, "^[; ]+|[; ]+$", "");
}

sub vcl_recv {
  if (req.http.X-Do == "hand") {
    call by_hand;
  } else {
    call with_functions;
  }
  if (req.http.Cookie == "" || req.http.Cookie ~ "^\s*$") {
    unset req.http.Cookie;
  }
  header.append(req.http.X-Trace, "one");
  header.append(req.http.X-Trace, "two");
  header.copy(req.http.Cookie, req.http.X-Cookie-Was);
  return (pass);
}

sub vcl_backend_response {
  # Of several cookies that the origin sets, the tracking ones go.
  header.remove(beresp.http.Set-Cookie, "^_track=");
  set beresp.http.X-First = header.get(beresp.http.Set-Cookie, "^lang=");
  set beresp.http.X-Missing = header.get(beresp.http.Set-Cookie, "^none=");
}

sub vcl_deliver {
  header.append(resp.http.Set-Cookie, "seen=1; Path=/");
  header.regsub(resp, "^X-Odd-(.*): (.*)$", "X-Even-\1: \2!");
}
