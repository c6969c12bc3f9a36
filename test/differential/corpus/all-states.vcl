# Every state says that it was there, and every return code of the client side is taken once.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub trace {
  set req.http.X-Trace = req.http.X-Trace + req.http.X-At + ">";
  unset req.http.X-At;
}

sub vcl_recv {
  set req.http.X-At = "recv";
  call trace;
  if (req.http.X-Recv == "hash") { return (hash); }
  if (req.http.X-Recv == "pass") { return (pass); }
  if (req.http.X-Recv == "purge") { return (purge); }
  if (req.http.X-Recv == "synth") { return (synth(299, "from recv")); }
  if (req.http.X-Recv == "restart" && req.restarts < 2) { return (restart); }
  if (req.http.X-Recv == "fail") { return (fail("recv")); }
}

sub vcl_hash {
  set req.http.X-At = "hash";
  call trace;
  hash_data(req.url);
  if (req.http.X-Hash == "fail") { return (fail("hash")); }
  return (lookup);
}

sub vcl_purge {
  set req.http.X-At = "purge";
  call trace;
  if (req.http.X-Purge == "restart") { unset req.http.X-Recv; return (restart); }
  if (req.http.X-Purge == "fail") { return (fail); }
}

sub vcl_hit {
  set req.http.X-At = "hit";
  call trace;
  if (req.http.X-Hit == "pass") { return (pass); }
  if (req.http.X-Hit == "synth") { return (synth(298, "from hit")); }
  if (req.http.X-Hit == "restart" && req.restarts == 0) { return (restart); }
  if (req.http.X-Hit == "fail") { return (fail); }
}

sub vcl_miss {
  set req.http.X-At = "miss";
  call trace;
  if (req.http.X-Miss == "pass") { return (pass); }
  if (req.http.X-Miss == "synth") { return (synth(297, "from miss")); }
  if (req.http.X-Miss == "restart" && req.restarts == 0) { return (restart); }
  if (req.http.X-Miss == "fail") { return (fail); }
}

sub vcl_pass {
  set req.http.X-At = "pass";
  call trace;
  if (req.http.X-Pass == "synth") { return (synth(296, "from pass")); }
  if (req.http.X-Pass == "restart" && req.restarts == 0) { return (restart); }
  if (req.http.X-Pass == "fail") { return (fail); }
}

sub vcl_backend_fetch {
  if (bereq.http.X-Fetch == "error") { return (error(505, "from fetch")); }
  if (bereq.http.X-Fetch == "abandon") { return (abandon); }
  if (bereq.http.X-Fetch == "fail") { return (fail); }
  return (fetch);
}

sub vcl_backend_response {
  if (bereq.http.X-Response == "retry" && bereq.retries == 0) { return (retry); }
  if (bereq.http.X-Response == "error") { return (error); }
  if (bereq.http.X-Response == "error-status") { return (error(504)); }
  if (bereq.http.X-Response == "abandon") { return (abandon); }
  if (bereq.http.X-Response == "pass") { return (pass(1s)); }
  if (bereq.http.X-Response == "pass-usual") { return (pass); }
  if (bereq.http.X-Response == "fail") { return (fail); }
  return (deliver);
}

sub vcl_backend_error {
  if (bereq.http.X-Error == "retry" && bereq.retries == 0) { unset bereq.http.X-Response; return (retry); }
  if (bereq.http.X-Error == "abandon") { return (abandon); }
  if (bereq.http.X-Error == "fail") { return (fail); }
  set beresp.body = "backend error " + beresp.status + " " + beresp.reason;
  return (deliver);
}

sub vcl_deliver {
  set resp.http.X-Trace = req.http.X-Trace + "deliver";
  if (req.http.X-Deliver == "synth") { return (synth(295, "from deliver")); }
  if (req.http.X-Deliver == "restart" && req.restarts == 0) { return (restart); }
  if (req.http.X-Deliver == "fail") { return (fail); }
}

sub vcl_synth {
  set resp.http.X-Trace = req.http.X-Trace + "synth";
  if (req.http.X-Synth == "restart" && req.restarts == 0) { unset req.http.X-Recv; return (restart); }
  if (req.http.X-Synth == "fail") { return (fail); }
  set resp.body = "synth " + resp.status + " " + resp.reason;
  return (deliver);
}
