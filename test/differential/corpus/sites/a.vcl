sub site_a {
  if (req.http.Host == "a.test") {
    set req.http.X-Site = "a";
    if (req.url ~ "^/private") {
      return (pass);
    }
  }
}

sub vcl_backend_response {
  if (bereq.http.X-Site == "a") {
    set beresp.ttl = 10s;
  }
}
