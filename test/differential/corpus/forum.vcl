# A forum: guests share pages, members do not; new posts show at once, searches are kept for seconds.
vcl 4.0;

import std;
import cookie;
import var;

backend default {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .probe = {
    .url = "/alive";
    .interval = 60s;
    .timeout = 3s;
    .window = 8;
    .threshold = 2;
    .initial = 7;
    .expected_response = 200;
  }
}

sub who {
  var.set_string("role", "guest");
  var.set_int("posts", 0);
  cookie.parse(req.http.Cookie);
  if (cookie.get("forum_sid") ~ "^[0-9a-f]{8}$") {
    var.set_string("role", "member");
    var.set_int("posts", std.integer(cookie.get("posts"), 0) + 1);
    var.set_duration("patience", 3s + 500ms);
    var.set_real("score", 0.5 + 1);
    var.set_ip("from", client.ip);
  }
  if (cookie.isset("theme")) {
    set req.http.X-Theme = cookie.get("theme");
  } else {
    set req.http.X-Theme = "light";
  }
}

sub vcl_recv {
  call who;
  set req.http.X-Role = var.get_string("role");
  if (var.get_string("role") == "member") {
    set req.http.X-Posts = var.get_int("posts");
    set req.http.X-Patience = var.get_duration("patience") + " " + var.get_real("score") + " " + var.get_ip("from");
  }
  if (req.method == "POST") {
    if (req.url ~ "^/(topic|post)/") {
      # Who posts wants to see the post.
      ban("req.url ~ ^/topic/ && req.http.host == " + req.http.host);
    }
    return (pass);
  }
  if (var.get_string("role") == "member") {
    return (pass);
  }
  unset req.http.Cookie;
  if (req.url ~ "^/search\?") {
    set req.url = std.querysort(std.tolower(req.url));
  }
  return (hash);
}

sub vcl_hash {
  hash_data(req.http.X-Theme);
}

sub vcl_backend_response {
  if (bereq.url ~ "^/search") {
    set beresp.ttl = 5s;
    set beresp.grace = 0s;
  } elseif (bereq.url ~ "^/topic/" && !bereq.uncacheable) {
    set beresp.ttl = 2m;
    unset beresp.http.Set-Cookie;
  }
}

sub vcl_deliver {
  set resp.http.X-Role = req.http.X-Role;
  if (req.http.X-Posts) {
    set resp.http.X-Posts = req.http.X-Posts;
  }
  var.global_set("last", req.url);
  set resp.http.X-Last = var.global_get("last");
  var.clear();
  set resp.http.X-Cleared = "<" + var.get("role") + ">";
}
