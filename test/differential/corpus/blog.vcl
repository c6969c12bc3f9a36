# A blog engine: pages are cached for readers without a session, the editors' part never is.
vcl 4.1;

import std;

backend default {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .connect_timeout = 2s;
  .first_byte_timeout = 5s;
  .between_bytes_timeout = 2s;
  .max_connections = 100;
}

acl editors {
  "localhost";
  "127.0.0.0"/8;
  ! "127.0.0.99";
  "192.0.2.0"/24;
}

sub vcl_recv {
  # One name for the site.
  if (req.http.Host ~ "(?i)^www\.") {
    set req.http.Host = regsub(req.http.Host, "(?i)^www\.", "");
  }
  unset req.http.Proxy;

  if (req.method == "PURGE") {
    if (client.ip !~ editors) {
      return (synth(405, "Not from here"));
    }
    return (purge);
  }
  if (req.method == "BAN") {
    if (!(client.ip ~ editors)) {
      return (synth(405, "Not from here"));
    }
    ban("req.http.host == " + req.http.Host + " && req.url ~ " + req.url);
    return (synth(200, "Ban added"));
  }

  if (req.method != "GET" && req.method != "HEAD") {
    return (pass);
  }
  if (req.http.Authorization) {
    return (pass);
  }

  # Where editors work.
  if (req.url ~ "^/(admin|login|preview)(/|$|\?)" || req.url ~ "[?&]preview=true") {
    return (pass);
  }

  # Campaign parameters are for the scripts in the page.
  if (req.url ~ "(\?|&)(utm_[a-z]+|gclid|fbclid)=") {
    set req.url = regsuball(req.url, "(utm_[a-z]+|gclid|fbclid)=[-_A-z0-9+()%.]+&?", "");
    set req.url = regsub(req.url, "[?&]+$", "");
  }
  # A fragment never reaches a well-behaved server.
  if (req.url ~ "#") {
    set req.url = regsub(req.url, "#.*$", "");
  }
  set req.url = std.querysort(req.url);

  if (req.url ~ "(?i)\.(css|js|png|gif|jpe?g|svg|woff2?)(\?.*)?$") {
    unset req.http.Cookie;
    return (hash);
  }

  # Cookies of statistics do not matter to the server; the others do.
  if (req.http.Cookie) {
    set req.http.Cookie = ";" + req.http.Cookie;
    set req.http.Cookie = regsuball(req.http.Cookie, "; +", ";");
    set req.http.Cookie = regsuball(req.http.Cookie, ";(blog_session|comment_author)=", "; \1=");
    set req.http.Cookie = regsuball(req.http.Cookie, ";[^ ][^;]*", "");
    set req.http.Cookie = regsuball(req.http.Cookie, "^[; ]+|[; ]+$", "");
    if (req.http.Cookie == "") {
      unset req.http.Cookie;
    } else {
      return (pass);
    }
  }
}

sub vcl_hash {
  if (req.http.X-Forwarded-Proto) {
    hash_data(req.http.X-Forwarded-Proto);
  }
}

sub vcl_backend_response {
  if (bereq.url ~ "(?i)\.(css|js|png|gif|jpe?g|svg|woff2?)(\?.*)?$") {
    unset beresp.http.Set-Cookie;
    set beresp.ttl = 1d;
    set beresp.http.Cache-Control = "public, max-age=" + beresp.ttl;
  } elsif (beresp.status == 404) {
    set beresp.ttl = 30s;
  } elsif (beresp.status >= 500) {
    set beresp.uncacheable = true;
    set beresp.ttl = 1s;
    return (deliver);
  }
  set beresp.grace = 6h;
}

sub vcl_deliver {
  if (obj.hits > 0) {
    set resp.http.X-Cache = "HIT " + obj.hits;
  } else {
    set resp.http.X-Cache = "MISS";
  }
  unset resp.http.X-Powered-By;
  unset resp.http.Server;
  unset resp.http.Via;
}
