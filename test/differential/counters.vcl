# The program of counters.test.ts: X-Do chooses what happens to a request, X-Bedo what happens to a response.
# @ORIGIN@ and @DEAD@ are ports.
vcl 4.1;

import std;
import purge;

probe poll {
  .url = "/probe";
  .interval = 300s;
  .initial = 0;
  .threshold = 1;
  .window = 1;
}

backend default {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .first_byte_timeout = 1.5s;
  .between_bytes_timeout = 1.5s;
}

backend slow {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .first_byte_timeout = 0.3s;
}

backend dead {
  .host = "127.0.0.1";
  .port = "@DEAD@";
}

backend single {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .max_connections = 1;
}

backend probed {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .probe = poll;
}

backend sick {
  .host = "127.0.0.1";
  .port = "@DEAD@";
  .probe = poll;
}

sub vcl_pipe {
  unset bereq.http.X-Varnish;
  unset bereq.http.X-Proxy-Id;
}

sub vcl_recv {
  if (req.http.X-Backend == "dead") {
    set req.backend_hint = dead;
  } elsif (req.http.X-Backend == "slow") {
    set req.backend_hint = slow;
  } elsif (req.http.X-Backend == "single") {
    set req.backend_hint = single;
  } elsif (req.http.X-Backend == "probed") {
    set req.backend_hint = probed;
  } elsif (req.http.X-Backend == "sick") {
    set req.backend_hint = sick;
  }
  if (req.http.X-Ban) {
    std.ban("req.url == " + req.http.X-Ban);
    return (synth(200));
  }
  if (req.http.X-Do == "pass") {
    return (pass);
  } elsif (req.http.X-Do == "pipe") {
    return (pipe);
  } elsif (req.http.X-Do == "synth") {
    return (synth(404));
  } elsif (req.http.X-Do == "purge") {
    return (purge);
  } elsif (req.http.X-Do == "restart" && req.restarts == 0) {
    return (restart);
  } elsif (req.http.X-Do == "restarts") {
    return (restart);
  } elsif (req.http.X-Do == "always-miss") {
    set req.hash_always_miss = true;
  } elsif (req.http.X-Do == "ignore-busy") {
    set req.hash_ignore_busy = true;
  }
}

sub vcl_miss {
  if (req.http.X-Miss == "synth") {
    return (synth(405));
  } elsif (req.http.X-Miss == "pass") {
    return (pass);
  } elsif (req.http.X-Miss == "restart" && req.restarts == 0) {
    return (restart);
  }
}

sub vcl_hit {
  if (req.http.X-Hit == "pass") {
    return (pass);
  } elsif (req.http.X-Hit == "restart" && req.restarts == 0) {
    return (restart);
  } elsif (req.http.X-Hit == "synth") {
    return (synth(406));
  } elsif (req.http.X-Hit == "purge") {
    purge.hard();
  } elsif (req.http.X-Hit == "soft") {
    purge.soft(0s, 500s, 500s);
  }
}

# What holds the name of a product, digits of an id or an age is left out, so that lengths can be compared.
sub vcl_backend_fetch {
  unset bereq.http.X-Varnish;
  unset bereq.http.X-Proxy-Id;
}

sub vcl_backend_error {
  set beresp.ttl = 0s;
  set beresp.grace = 0s;
  unset beresp.http.Server;
  set beresp.body = "failed";
  return (deliver);
}

sub vcl_synth {
  call clean;
  set resp.body = "made";
  return (deliver);
}

sub clean {
  unset resp.http.X-Varnish;
  unset resp.http.X-Proxy-Id;
  unset resp.http.Via;
  unset resp.http.Age;
  unset resp.http.Server;
}

sub vcl_backend_response {
  set beresp.storage = storage.s0;
  if (beresp.http.X-Bedo == "short") {
    set beresp.ttl = 0.1s;
    set beresp.grace = 1000s;
  } elsif (beresp.http.X-Bedo == "keep") {
    set beresp.ttl = 0.1s;
    set beresp.grace = 0s;
    set beresp.keep = 1000s;
  } elsif (beresp.http.X-Bedo == "gone") {
    set beresp.ttl = 0.1s;
    set beresp.grace = 0s;
    set beresp.keep = 0s;
  } elsif (beresp.http.X-Bedo == "uncacheable") {
    set beresp.uncacheable = true;
    set beresp.ttl = 100s;
  } elsif (beresp.http.X-Bedo == "hfp") {
    return (pass(1000s));
  } elsif (beresp.http.X-Bedo == "gzip") {
    set beresp.do_gzip = true;
    set beresp.do_stream = false;
  } elsif (beresp.http.X-Bedo == "gunzip") {
    set beresp.do_gunzip = true;
    set beresp.do_stream = false;
  } elsif (beresp.http.X-Bedo == "esi") {
    set beresp.do_esi = true;
  } elsif (beresp.http.X-Bedo == "nostream") {
    set beresp.do_stream = false;
  } elsif (beresp.http.X-Bedo == "abandon") {
    return (abandon);
  } elsif (beresp.http.X-Bedo == "retry" && bereq.retries == 0) {
    return (retry);
  } elsif (beresp.http.X-Bedo == "error") {
    return (error(504));
  } elsif (beresp.http.X-Bedo == "small") {
    set beresp.storage = storage.small;
    set beresp.ttl = 100s;
  }
}

sub vcl_deliver {
  call clean;
  if (req.http.X-Deliver == "restart" && req.restarts == 0) {
    return (restart);
  } elsif (req.http.X-Deliver == "synth") {
    return (synth(410));
  } elsif (req.http.X-Deliver == "close") {
    set resp.http.Connection = "close";
  }
}
