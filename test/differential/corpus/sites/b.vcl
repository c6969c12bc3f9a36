acl b_only { "127.0.0.0"/8; }

sub site_b {
  if (req.http.Host == "b.test") {
    set req.http.X-Site = "b";
    if (client.ip ~ b_only && req.method == "PURGE") {
      return (purge);
    }
  }
}

sub vcl_backend_response {
  if (bereq.http.X-Site == "b") {
    set beresp.ttl = 20s;
    set beresp.http.Cache-Control = "max-age=20";
    return (deliver);
  }
}
