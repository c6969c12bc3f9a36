vcl 4.1;

backend docs { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  if (req.url ~ "^/up") {
    return (synth(200, "docs"));
  }
}

sub vcl_hash {
  hash_data("docs");
}

sub vcl_deliver {
  set resp.http.X-Deliver = "docs" + req.url;
}
