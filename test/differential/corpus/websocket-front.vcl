# Connections that change their protocol are piped, the rest of the application is cached as usual.
vcl 4.1;

backend app { .host = "127.0.0.1"; .port = "@ORIGIN@"; }
backend sockets { .host = "127.0.0.1"; .port = "@ORIGIN@"; .host_header = "sockets"; }

sub vcl_recv {
  if (req.http.Upgrade ~ "(?i)websocket") {
    set req.backend_hint = sockets;
    return (pipe);
  }
  if (req.url ~ "^/stream/" || req.method == "CONNECT-ISH") {
    return (pipe);
  }
  if (req.http.Connection ~ "(?i)upgrade" && req.http.Upgrade) {
    return (synth(426, "Upgrade what?"));
  }
}

sub vcl_pipe {
  if (req.http.Upgrade) {
    set bereq.http.Upgrade = req.http.Upgrade;
    set bereq.http.Connection = req.http.Connection;
  }
  if (req.url ~ "^/stream/refused") {
    return (synth(403, "No stream for you"));
  }
  if (req.url ~ "^/stream/failed") {
    return (fail);
  }
  set bereq.http.X-Piped = "yes";
  unset bereq.http.X-Secret;
}

sub vcl_backend_response {
  set beresp.ttl = 10s;
}

sub vcl_synth {
  if (resp.status == 426) {
    set resp.http.Upgrade = "websocket";
  }
}
