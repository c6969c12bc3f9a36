# The entry: each site has a program of its own behind a label; what no label takes stays here.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  set req.http.X-Entry = "portal";
  if (req.http.Host ~ "^api\.") {
    return (vcl(api_label));
  }
  if (req.http.Host ~ "^docs\.") {
    set req.url = "/lost/by/switching";
    return (vcl(docs_label));
  }
  if (req.url == "/back-and-forth" && req.restarts == 0) {
    return (restart);
  }
  if (req.url == "/back-and-forth") {
    return (vcl(api_label));
  }
}

sub vcl_backend_response {
  set beresp.http.X-By = "portal";
}

sub vcl_deliver {
  set resp.http.X-Deliver = "portal";
}
