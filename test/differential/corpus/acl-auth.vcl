# Basic authentication and address lists at the edge, without asking the origin.
vcl 4.1;

import std;
import blob;
import str;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

acl trusted_proxies { "127.0.0.1"; }
acl admins {
  "10.1.0.0"/16;
  ! "10.1.66.0"/24;
  "10.1.66.6";
  "::1";
}

sub check_password {
  unset req.http.X-User;
  if (req.http.Authorization ~ "^Basic [A-Za-z0-9+/]+=*$") {
    set req.http.X-Credentials = blob.transcode(BASE64, IDENTITY, encoded=regsub(req.http.Authorization, "^Basic ", ""));
    if (req.http.X-Credentials == "ann:apple" || req.http.X-Credentials == "bob:pear") {
      set req.http.X-User = regsub(req.http.X-Credentials, ":.*", "");
    }
    unset req.http.X-Credentials;
  } elseif (req.http.Authorization ~ "^Bearer ") {
    set req.http.X-Token = str.take(req.http.Authorization, 8, 7);
    if (str.count(req.http.X-Token) == 8 && str.startswith(req.http.X-Token, "tok-")) {
      set req.http.X-User = "token " + str.reverse(str.split(req.http.X-Token, 2, "-"));
    }
    unset req.http.X-Token;
  }
}

sub vcl_recv {
  if (client.ip ~ trusted_proxies && req.http.X-Client) {
    set req.http.X-Addr = std.ip(req.http.X-Client, client.ip);
  } else {
    set req.http.X-Addr = client.ip;
  }
  if (req.url ~ "^/admin/") {
    if (std.ip(req.http.X-Addr, "::") ~ admins) {
      call check_password;
      if (!req.http.X-User) {
        return (synth(401));
      }
      set req.http.X-Forwarded-User = req.http.X-User;
      return (pass);
    }
    return (synth(403, "Not " + req.http.X-Addr));
  }
  if (req.url ~ "^/private/") {
    call check_password;
    if (req.http.X-User) {
      unset req.http.Authorization;
      return (hash);
    }
    return (synth(401));
  }
  unset req.http.Authorization;
}

sub vcl_hash {
  if (req.http.X-User) {
    hash_data(req.http.X-User);
  }
}

sub vcl_backend_fetch {
  unset bereq.http.Authorization;
  unset bereq.http.X-Addr;
}

sub vcl_backend_response {
  if (bereq.http.X-User) {
    set beresp.http.Cache-Control = "private, max-age=5";
    set beresp.ttl = 30s;
  }
}

sub vcl_synth {
  if (resp.status == 401) {
    set resp.http.WWW-Authenticate = {"Basic realm="the back door""};
    set resp.body = "Who are you?" + {"
"};
    return (deliver);
  }
}
