# Pages with inclusion marks whose origin is told that nobody here resolves them, and which stay as they are.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  # The origin decides by this field whether it writes fragments or whole pages.
  set req.http.Surrogate-Capability = "edge=none";
  if (req.http.X-Edge == "announce") {
    set req.http.Surrogate-Capability = {"edge="Surrogate/1.0 ESI/1.0""};
  }
}

sub vcl_backend_response {
  set beresp.do_esi = false;
  if (beresp.http.Surrogate-Control ~ "ESI/1\.0") {
    set beresp.http.X-Would-Esi = "yes";
    unset beresp.http.Surrogate-Control;
  }
  if (beresp.http.Content-Type ~ "text/html" && !beresp.do_esi) {
    set beresp.http.X-Esi = beresp.do_esi;
    set beresp.http.X-Stream = beresp.do_stream;
  }
  set beresp.ttl = 40s;
}

sub vcl_deliver {
  if (resp.do_esi) {
    set resp.http.X-Deliver-Esi = "on";
    set resp.do_esi = false;
  } else {
    set resp.http.X-Deliver-Esi = "off";
  }
  set resp.http.X-Level = req.esi_level;
}
