# Two variants of a page: a cookie keeps visitors where they are, the share of new ones is set by a field.
vcl 4.1;

import std;
import cookie;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  unset req.http.X-Variant;
  unset req.http.X-New-Variant;
  cookie.parse(req.http.Cookie);
  if (cookie.isset("abtest")) {
    set req.http.X-Variant = cookie.get("abtest");
  } elsif (req.http.X-Dice) {
    # Real ones throw std.random(); a test says what was thrown.
    if (std.real(req.http.X-Dice, 0.0) < 30.0) {
      set req.http.X-Variant = "B";
    } else {
      set req.http.X-Variant = "A";
    }
    set req.http.X-New-Variant = req.http.X-Variant;
  } else if (std.random(1, 2) >= 1.0) {
    set req.http.X-Variant = "A";
  }
  if (req.http.X-Variant != "A" && req.http.X-Variant != "B") {
    set req.http.X-Variant = "A";
  }
  cookie.delete("abtest");
  cookie.filter_re("^_");
  set req.http.Cookie = cookie.get_string();
  if (req.http.Cookie == "") {
    unset req.http.Cookie;
  }
  if (req.url ~ "^/static/") {
    unset req.http.X-Variant;
  }
}

sub vcl_hash {
  if (req.http.X-Variant) {
    hash_data("variant " + req.http.X-Variant);
  }
}

sub vcl_pass {
  set req.http.X-Was-Passed = "1";
}

sub vcl_backend_response {
  if (bereq.http.X-Variant == "B") {
    set beresp.http.X-Note = "new layout";
    set beresp.ttl *= 2;
  }
  if (beresp.ttl > 30s) {
    set beresp.ttl -= 5s;
  }
  set beresp.ttl += 1s;
  set beresp.http.X-Ttl = beresp.ttl;
}

sub vcl_deliver {
  if (req.http.X-New-Variant) {
    set resp.http.Set-Cookie = "abtest=" + req.http.X-New-Variant + "; Max-Age=" +
      std.integer(duration=7d) + "; Path=/";
  }
  if (req.http.X-Was-Passed) {
    set resp.http.Cache-Control = "private";
  }
  set resp.http.X-Variant = req.http.X-Variant;
}
