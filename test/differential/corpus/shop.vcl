# A shop: catalogue pages are shared by visitors of one currency and one group, baskets are not.
vcl 4.1;

import std;
import cookie;
import header;

backend web {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .host_header = "shop.internal";
}

backend checkout {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .first_byte_timeout = 1.5s;
}

backend images {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
}

acl office {
  "127.0.0.1";
  "10.0.0.0"/8;
  "2001:db8::"/32;
}

sub choose_backend {
  if (req.url ~ "^/(checkout|basket|account)") {
    set req.backend_hint = checkout;
  } elseif (req.url ~ "^/media/") {
    set req.backend_hint = images;
  } else {
    set req.backend_hint = web;
  }
}

sub read_cookies {
  unset req.http.X-Currency;
  unset req.http.X-Group;
  if (req.http.Cookie) {
    cookie.parse(req.http.Cookie);
    set req.http.X-Currency = cookie.get("currency");
    set req.http.X-Group = cookie.get("group");
    cookie.keep("SHOPID,basket");
    set req.http.Cookie = cookie.get_string();
    if (req.http.Cookie == "") {
      unset req.http.Cookie;
    }
  }
  if (req.http.X-Currency !~ "^(EUR|USD|GBP)$") {
    set req.http.X-Currency = "EUR";
  }
  if (!req.http.X-Group) {
    set req.http.X-Group = "guest";
  }
}

sub vcl_recv {
  call choose_backend;
  call read_cookies;

  if (req.url == "/health") {
    return (synth(200, "fine"));
  }
  if (req.method == "PURGE") {
    if (client.ip !~ office) {
      return (synth(403));
    }
    if (req.http.X-Tag) {
      ban("obj.http.X-Tags ~ (^|,)" + req.http.X-Tag + "(,|$)");
      return (synth(200, "Purged " + req.http.X-Tag));
    }
    return (purge);
  }
  if (req.method == "POST" && req.url ~ "^/catalogue/search") {
    # Searches are posted by an old client; nothing is changed by them.
    return (pass);
  }
  if (req.url ~ "^/(checkout|basket|account)") {
    return (pass);
  }
  if (req.url ~ "^/media/") {
    unset req.http.Cookie;
    set req.url = regsub(req.url, "\?.*", "");
    return (hash);
  }
  if (req.method == "GET" || req.method == "HEAD") {
    if (req.http.Cookie ~ "basket=[1-9]") {
      set req.http.X-Has-Basket = "1";
    }
    unset req.http.Cookie;
    return (hash);
  }
}

sub vcl_hash {
  hash_data(req.url);
  hash_data(req.http.Host);
  if (req.url !~ "^/media/") {
    hash_data(req.http.X-Currency);
    hash_data("/");
    hash_data(req.http.X-Group);
  }
  return (lookup);
}

sub vcl_backend_fetch {
  if (bereq.backend == web) {
    set bereq.http.X-From = "cache";
  }
  unset bereq.http.X-Has-Basket;
}

sub vcl_backend_response {
  if (beresp.http.X-Tags) {
    header.append(beresp.http.X-Tags, "all");
    std.collect(beresp.http.X-Tags, ",");
  }
  if (bereq.uncacheable) {
    return (deliver);
  }
  if (beresp.http.Set-Cookie ~ "basket=") {
    return (pass(2m));
  }
  if (beresp.ttl <= 0s && beresp.status == 200) {
    set beresp.ttl = 20s;
    set beresp.grace = 10s;
  }
  header.remove(beresp.http.Set-Cookie, "^tracking=");
  if (beresp.http.Content-Type ~ "^(text/|application/(json|javascript))") {
    set beresp.do_gzip = true;
    set beresp.do_stream = false;
  }
}

sub vcl_deliver {
  unset resp.http.X-Tags;
  set resp.http.X-Currency = req.http.X-Currency;
  if (req.http.X-Has-Basket) {
    set resp.http.Vary = "Cookie";
  }
  header.append(resp.http.Link, "</media/logo.png>; rel=preload");
  header.append(resp.http.Link, "</app.js>; rel=preload");
  if (obj.hits == 0) {
    set resp.http.X-Served = "origin";
  } else {
    set resp.http.X-Served = "cache";
  }
}
