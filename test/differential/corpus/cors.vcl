# Cross-origin requests: preflights are answered here, allowed origins are echoed, fonts are for all.
vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  unset req.http.X-Allowed-Origin;
  if (req.http.Origin ~ "^https?://([a-z0-9-]+\.)*(example\.org|example\.net)(:\d+)?$") {
    set req.http.X-Allowed-Origin = req.http.Origin;
  } elseif (req.url ~ "\.(woff2?|ttf|eot)$") {
    set req.http.X-Allowed-Origin = "*";
  }
  if (req.method == "OPTIONS") {
    if (req.http.X-Allowed-Origin && req.http.Access-Control-Request-Method) {
      return (synth(700, "Preflight"));
    } else if (req.http.Access-Control-Request-Method) {
      return (synth(403, "Origin not allowed"));
    }
    return (pass);
  }
  if (req.method == "POST" && req.http.Origin && !req.http.X-Allowed-Origin) {
    return (synth(403, "Origin not allowed"));
  }
}

sub vcl_deliver {
  if (req.http.X-Allowed-Origin) {
    set resp.http.Access-Control-Allow-Origin = req.http.X-Allowed-Origin;
    if (req.http.X-Allowed-Origin != "*") {
      set resp.http.Access-Control-Allow-Credentials = "true";
      if (resp.http.Vary) {
        set resp.http.Vary = resp.http.Vary + ", Origin";
      } else {
        set resp.http.Vary = "Origin";
      }
    }
    set resp.http.Access-Control-Expose-Headers = "X-Total, Link";
  } else {
    unset resp.http.Access-Control-Allow-Origin;
  }
}

sub vcl_synth {
  if (resp.status == 700) {
    set resp.status = 200;
    set resp.reason = "OK";
    set resp.http.Access-Control-Allow-Origin = req.http.X-Allowed-Origin;
    set resp.http.Access-Control-Allow-Methods = "GET, HEAD, POST, OPTIONS";
    set resp.http.Access-Control-Allow-Headers = req.http.Access-Control-Request-Headers;
    set resp.http.Access-Control-Max-Age = 600;
    set resp.http.Content-Length = "0";
    unset resp.http.Content-Type;
    synthetic("");
    return (deliver);
  }
}
