# Who gets what packed: by type, by client, by size; variants of the origin are kept apart.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  if (req.url ~ "\.(jpg|png|gif|gz|zip|br)$") {
    unset req.http.Accept-Encoding;
  } elsif (req.http.User-Agent ~ "OldBrowser") {
    unset req.http.Accept-Encoding;
  }
  set req.http.X-Can = req.can_gzip;
  if (req.method == "GET" && req.http.X-Pass) {
    return (pass);
  }
}

sub vcl_backend_fetch {
  if (bereq.url ~ "^/plain/") {
    unset bereq.http.Accept-Encoding;
  }
  if (bereq.url ~ "^/as-it-is/") {
    set bereq.http.Accept-Encoding = "identity";
  }
}

sub vcl_backend_response {
  set beresp.do_stream = false;
  if (beresp.http.Content-Type ~ "(?i)^(text|application/(json|xml|javascript))" && !beresp.http.Content-Encoding) {
    set beresp.do_gzip = true;
  }
  if (bereq.url ~ "^/unpack/") {
    set beresp.do_gunzip = true;
  }
  set beresp.ttl = 1m;
}

sub vcl_deliver {
  set resp.http.X-Can = req.http.X-Can + " " + req.can_gzip;
}
