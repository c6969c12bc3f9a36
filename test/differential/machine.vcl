# The program of machine.test.ts: a request says in fields what becomes of it in each state, as in
# `X-Miss: restart`; X-Times says for how many restarts or retries a field counts (1 unless given).
vcl 4.1;

import std;

backend default {
  .host = "127.0.0.1";
  .port = "@ORIGIN@";
  .first_byte_timeout = 1s;
  .between_bytes_timeout = 1s;
}

backend dead {
  .host = "127.0.0.1";
  .port = "@DEAD@";
}

sub vcl_recv {
  if (req.http.X-Restarts) {
    set req.http.X-Restarts = req.restarts;
  }
  if (req.http.X-Grace) {
    set req.grace = std.duration(req.http.X-Grace, 0s);
  }
  if (req.http.X-Ttl) {
    set req.ttl = std.duration(req.http.X-Ttl, 0s);
  }
  if (req.http.X-Set ~ "always-miss") {
    set req.hash_always_miss = true;
  }
  if (req.http.X-Set ~ "ignore-busy") {
    set req.hash_ignore_busy = true;
  }
  if (req.http.X-Set ~ "ignore-vary") {
    set req.hash_ignore_vary = true;
  }
  if (req.http.X-Set ~ "late100") {
    std.late_100_continue(true);
  }
  if (req.http.X-Set ~ "cachebody") {
    if (std.cache_req_body(1KB)) {
      set req.http.X-Cached = "yes";
    } else {
      set req.http.X-Cached = "no";
    }
  }
  if (req.http.X-Set ~ "dead" && req.restarts == 0) {
    set req.backend_hint = dead;
  } else {
    set req.backend_hint = default;
  }
  if (req.http.X-Set ~ "url" && req.restarts == 0) {
    set req.url = "/changed";
  }
  if (req.restarts < std.integer(req.http.X-Times, 1)) {
    if (req.http.X-Recv == "restart") {
      return (restart);
    } elsif (req.http.X-Recv == "rollback") {
      set req.http.X-Changed = "1";
      std.rollback(req);
      set req.http.X-Recv = "rolled";
    } elsif (req.http.X-Recv == "synth") {
      return (synth(700, "Own"));
    }
  }
  if (req.http.X-Recv == "pass") {
    return (pass);
  } elsif (req.http.X-Recv == "pipe") {
    return (pipe);
  } elsif (req.http.X-Recv == "purge") {
    return (purge);
  } elsif (req.http.X-Recv == "hash") {
    return (hash);
  } elsif (req.http.X-Recv == "fail") {
    return (fail);
  }
}

sub vcl_hash {
  if (req.http.X-Hash == "fail") {
    return (fail);
  }
}

sub vcl_hit {
  if (req.restarts < std.integer(req.http.X-Times, 1)) {
    if (req.http.X-Hit == "restart") {
      return (restart);
    } elsif (req.http.X-Hit == "synth") {
      return (synth(404));
    } elsif (req.http.X-Hit == "fail") {
      return (fail);
    } elsif (req.http.X-Hit == "pass") {
      return (pass);
    }
  }
  if (req.http.X-Hit == "log") {
    std.log("hits " + obj.hits + " status " + obj.status + " keep " + obj.keep);
  }
}

sub vcl_miss {
  if (req.restarts < std.integer(req.http.X-Times, 1)) {
    if (req.http.X-Miss == "restart") {
      return (restart);
    } elsif (req.http.X-Miss == "synth") {
      return (synth(404));
    } elsif (req.http.X-Miss == "fail") {
      return (fail);
    } elsif (req.http.X-Miss == "pass") {
      return (pass);
    }
  }
}

sub vcl_pass {
  if (req.restarts < std.integer(req.http.X-Times, 1)) {
    if (req.http.X-Pass == "restart") {
      return (restart);
    } elsif (req.http.X-Pass == "synth") {
      return (synth(404));
    } elsif (req.http.X-Pass == "fail") {
      return (fail);
    }
  }
}

sub vcl_pipe {
  if (req.http.X-Pipe == "synth") {
    return (synth(404));
  } elsif (req.http.X-Pipe == "fail") {
    return (fail);
  } elsif (req.http.X-Pipe == "set") {
    set bereq.http.X-Own = "pipe";
    unset bereq.http.Connection;
  } elsif (req.http.X-Pipe == "upgrade") {
    set bereq.http.Upgrade = req.http.Upgrade;
    set bereq.http.Connection = req.http.Connection;
  } elsif (req.http.X-Pipe == "dead") {
    set bereq.backend = dead;
  }
}

sub vcl_purge {
  if (req.restarts < std.integer(req.http.X-Times, 1)) {
    if (req.http.X-Purge == "restart") {
      set req.http.X-Recv = "none";
      return (restart);
    } elsif (req.http.X-Purge == "synth") {
      return (synth(204, "Gone for good"));
    } elsif (req.http.X-Purge == "fail") {
      return (fail);
    }
  }
}

sub vcl_backend_fetch {
  if (bereq.retries < std.integer(bereq.http.X-Times, 1)) {
    if (bereq.http.X-Bf == "abandon") {
      return (abandon);
    } elsif (bereq.http.X-Bf == "error") {
      return (error(520, "Own error"));
    } elsif (bereq.http.X-Bf == "error0") {
      return (error);
    } elsif (bereq.http.X-Bf == "fail") {
      return (fail);
    }
  }
  if (bereq.http.X-Bf == "mark") {
    set bereq.http.X-Try = bereq.retries;
  } elsif (bereq.http.X-Bf == "nobody") {
    unset bereq.body;
  } elsif (bereq.http.X-Bf == "timeouts") {
    set bereq.first_byte_timeout = 0.3s;
    set bereq.between_bytes_timeout = 0.3s;
  } elsif (bereq.http.X-Bf == "method") {
    set bereq.method = "POST";
  } elsif (bereq.http.X-Bf == "dead2" && bereq.retries == 0) {
    set bereq.backend = dead;
  }
}

sub vcl_backend_response {
  if (beresp.http.X-Storage) {
    set beresp.storage = storage.Transient;
  }
  if (beresp.http.X-Ttl) {
    set beresp.ttl = std.duration(beresp.http.X-Ttl, 0s);
  }
  if (beresp.http.X-Grace) {
    set beresp.grace = std.duration(beresp.http.X-Grace, 0s);
  }
  if (beresp.http.X-Keep) {
    set beresp.keep = std.duration(beresp.http.X-Keep, 0s);
  }
  if (beresp.http.X-Age) {
    std.log("age " + beresp.age + " ttl " + beresp.ttl + " grace " + beresp.grace + " keep " + beresp.keep);
  }
  if (beresp.http.X-Do ~ "nostream") {
    set beresp.do_stream = false;
  }
  if (beresp.http.X-Do ~ "gzip") {
    set beresp.do_gzip = true;
  }
  if (beresp.http.X-Do ~ "unpack") {
    set beresp.do_gunzip = true;
  }
  if (beresp.http.X-Do ~ "esi") {
    set beresp.do_esi = true;
  }
  if (beresp.http.X-Do ~ "uncacheable") {
    set beresp.uncacheable = true;
  }
  if (beresp.http.X-Filters) {
    set beresp.filters = beresp.http.X-Filters;
  }
  if (beresp.http.X-Do ~ "filters") {
    set beresp.http.X-Saw = beresp.filters;
  }
  if (beresp.http.X-Do ~ "was304") {
    set beresp.http.X-Was = beresp.was_304;
  }
  if (beresp.http.X-Do ~ "status") {
    set beresp.status = 299;
  }
  if (beresp.http.X-Do ~ "proto") {
    std.log(beresp.proto + " " + beresp.backend + " " + beresp.backend.name + " " + beresp.uncacheable + " " + bereq.is_bgfetch);
  }
  if (bereq.retries < std.integer(bereq.http.X-Times, 1)) {
    if (bereq.http.X-Br == "retry") {
      return (retry);
    } elsif (bereq.http.X-Br == "abandon") {
      return (abandon);
    } elsif (bereq.http.X-Br == "error") {
      return (error(521, "Own error"));
    } elsif (bereq.http.X-Br == "error0") {
      return (error);
    } elsif (bereq.http.X-Br == "error503") {
      return (error(503));
    } elsif (bereq.http.X-Br == "whole") {
      unset beresp.http.Content-Range;
    } elsif (bereq.http.X-Br == "fail") {
      return (fail);
    } elsif (bereq.http.X-Br == "pass") {
      return (pass(10s));
    } elsif (bereq.http.X-Br == "pass0") {
      return (pass(0s));
    } elsif (bereq.http.X-Br == "rollback") {
      std.rollback(bereq);
      return (retry);
    }
  }
}

sub vcl_backend_error {
  if (bereq.http.X-Be == "keep") {
    set beresp.ttl = 10s;
    set beresp.status = 200;
    set beresp.reason = "Made up";
    set beresp.http.Content-Type = "text/plain";
    synthetic("made up" + {"
"});
    return (deliver);
  }
  if (bereq.retries < std.integer(bereq.http.X-Times, 1)) {
    if (bereq.http.X-Be == "retry") {
      return (retry);
    } elsif (bereq.http.X-Be == "abandon") {
      return (abandon);
    } elsif (bereq.http.X-Be == "fail") {
      return (fail);
    }
  }
}

sub vcl_deliver {
  if (req.http.X-Rfilters) {
    set resp.filters = req.http.X-Rfilters;
  }
  if (req.http.X-Show == "filters") {
    set resp.http.X-Filters-Now = resp.filters;
  } elsif (req.http.X-Show == "streaming") {
    std.log("streaming " + resp.is_streaming + " hits " + obj.hits + " uncacheable " + obj.uncacheable);
  } elsif (req.http.X-Show == "obj") {
    std.log("ttl " + std.integer(duration = obj.ttl) + " grace " + obj.grace + " keep " + obj.keep + " age " + std.integer(duration = obj.age) + " hits " + obj.hits + " uncacheable " + obj.uncacheable);
  } elsif (req.http.X-Show == "length") {
    unset resp.http.Content-Length;
  } elsif (req.http.X-Show == "close") {
    set resp.http.Connection = "close";
  } elsif (req.http.X-Show == "status") {
    set resp.status = 404;
  } elsif (req.http.X-Show == "204") {
    set resp.status = 204;
  } elsif (req.http.X-Show == "304") {
    set resp.status = 304;
  } elsif (req.http.X-Show == "ranges") {
    unset resp.http.Accept-Ranges;
  } elsif (req.http.X-Show == "etag") {
    set resp.http.ETag = {""own""};
  } elsif (req.http.X-Show == "encoding") {
    unset resp.http.Content-Encoding;
  }
  if (req.restarts < std.integer(req.http.X-Times, 1)) {
    if (req.http.X-Deliver == "restart") {
      return (restart);
    } elsif (req.http.X-Deliver == "synth") {
      return (synth(404));
    } elsif (req.http.X-Deliver == "fail") {
      return (fail);
    }
  }
}

sub vcl_synth {
  if (req.restarts < std.integer(req.http.X-Times, 1)) {
    if (req.http.X-Synth == "restart") {
      set req.http.X-Recv = "none";
      return (restart);
    } elsif (req.http.X-Synth == "again") {
      return (restart);
    } elsif (req.http.X-Synth == "fail") {
      return (fail);
    }
  }
  if (req.http.X-Synth == "plain") {
    set resp.http.Content-Type = "text/plain";
    synthetic("plain page" + {"
"});
    return (deliver);
  } elsif (req.http.X-Synth == "304") {
    set resp.http.ETag = {""s""};
    set resp.status = 200;
    synthetic("0123456789");
    return (deliver);
  }
}
