# The program of passage.test.ts: X-Do of a request says what happens to it, X-Bedo of it what happens to its answer.
# @ORIGIN@ and @DEAD@ are ports.
vcl 4.1;

import std;

backend default {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
}

sub vcl_recv {
  set req.http.X-Seen = "dev " + req.http.X-Device + " cc " + req.http.Cache-Control + " conn " + req.http.Connection;
  if (req.http.X-Do ~ "device") {
    set req.http.X-Device = "desktop";
  }
  if (req.http.X-Do ~ "cachebody") {
    std.cache_req_body(10KB);
  }
  if (req.http.X-Do ~ "late100") {
    std.late_100_continue(true);
  }
  if (req.http.X-Do ~ "synth") {
    return (synth(200));
  }
  if (req.http.X-Do ~ "pass") {
    return (pass);
  }
  if (req.http.X-Do ~ "pipe") {
    return (pipe);
  }
  return (hash);
}

sub vcl_hash {
  std.log("codings " + req.http.Accept-Encoding);
  hash_data(req.http.X-Device);
}

sub vcl_pipe {
  set bereq.http.X-Seen = bereq.http.X-Seen + " pipe";
}

sub vcl_backend_fetch {
  if (bereq.http.X-Method) {
    set bereq.method = bereq.http.X-Method;
  }
  if (bereq.http.X-Bedo ~ "bereq-close") {
    set bereq.http.Connection = "close";
  }
  if (bereq.http.X-Bedo ~ "bereq-option") {
    set bereq.http.Connection = "X-Foo";
  }
  if (bereq.http.X-Bedo ~ "add-range") {
    set bereq.http.Range = "bytes=5-24";
  }
  if (bereq.http.X-Bedo ~ "lose-range") {
    unset bereq.http.Range;
  }
}

sub vcl_backend_response {
  if (beresp.http.X-Ttl) {
    set beresp.ttl = std.duration(beresp.http.X-Ttl, 0s);
    set beresp.grace = std.duration(beresp.http.X-Grace, 0s);
    set beresp.keep = 60s;
  }
  set beresp.http.X-Saw = beresp.http.X-Hop;
  if (bereq.http.X-Bedo ~ "own-hop") {
    set beresp.http.X-Hop = "own";
  }
  if (bereq.http.X-Bedo ~ "beresp-close") {
    set beresp.http.Connection = "close";
  }
  if (bereq.http.X-Bedo ~ "keep-alive") {
    unset beresp.http.Connection;
  }
  if (bereq.http.X-Bedo ~ "nostream") {
    set beresp.do_stream = false;
  }
  if (bereq.http.X-Bedo ~ "pack") {
    set beresp.do_gzip = true;
  }
  if (bereq.http.X-Bedo ~ "open") {
    set beresp.do_gunzip = true;
  }
  if (bereq.http.X-Bedo ~ "nofilters") {
    set beresp.filters = "";
  }
  if (bereq.http.X-Bedo ~ "set200") {
    set beresp.status = 200;
  }
  if (bereq.http.X-Bedo ~ "set206") {
    set beresp.status = 206;
  }
  if (bereq.http.X-Bedo ~ "noplace") {
    unset beresp.http.Content-Range;
  }
  if (bereq.http.X-Bedo ~ "retry" && bereq.retries == 0) {
    set beresp.do_stream = false;
    return (retry);
  }
  std.log("stream " + beresp.do_stream + " filters" + beresp.filters);
}

sub vcl_deliver {
  if (req.http.X-Do ~ "gunzip") {
    set resp.filters = "gunzip";
  }
  if (req.http.X-Do ~ "resp-close") {
    set resp.http.Connection = "close";
  }
  if (req.http.X-Do ~ "resp-option") {
    set resp.http.Connection = "X-Foo";
  }
}

sub vcl_synth {
  if (req.http.X-Do ~ "take-back") {
    unset resp.http.Connection;
  }
  if (req.http.X-Do ~ "keep") {
    set resp.http.Connection = "keep-alive";
  }
  synthetic("a page");
  return (deliver);
}
