# Large files stream, small ones do not; packed and unpacked on the way, in ranges where clients ask for them.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; .between_bytes_timeout = 1s; }

sub vcl_recv {
  if (req.http.X-No-Gzip) {
    unset req.http.Accept-Encoding;
  }
  if (req.url ~ "\.(zip|gz|mp4)$") {
    unset req.http.Accept-Encoding;
    set req.http.X-Big = "1";
  }
  if (req.http.Range ~ "bytes=0-$") {
    unset req.http.Range;
  }
}

sub vcl_backend_fetch {
  if (bereq.http.X-Big) {
    set bereq.between_bytes_timeout = 0.9s;
    set bereq.first_byte_timeout = 5s;
    set bereq.connect_timeout = 1s;
  }
}

sub vcl_backend_response {
  if (std.bytes(beresp.http.Content-Length, 0B) > 10KB) {
    set beresp.do_stream = true;
  } else {
    set beresp.do_stream = false;
  }
  if (beresp.http.Content-Encoding != "gzip" && bereq.url ~ "\.txt$") {
    set beresp.do_gzip = true;
  }
  if (beresp.http.Content-Encoding == "gzip" && bereq.url ~ "plain") {
    set beresp.do_gunzip = true;
  }
  if (bereq.http.X-Big) {
    set beresp.storage = storage.Transient;
    set beresp.ttl = 30s;
  } else {
    set beresp.ttl = 5m;
  }
  set beresp.http.X-Filters = "<" + beresp.filters + ">";
}

sub vcl_deliver {
  if (resp.http.Never && !resp.is_streaming) {
    set resp.http.X-Streaming = "no";
  }
}
