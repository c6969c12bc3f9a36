# The program of basic.test.ts: what happens to a request is chosen by its X-Do field, what happens to a
# response by its X-Bedo field, so that one program serves every case. @ORIGIN@ and @DEAD@ are ports.
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
  if (req.http.X-Do == "pass") {
    return (pass);
  } elseif (req.http.X-Do == "pipe") {
    return (pipe);
  } else if (req.http.X-Do == "synth") {
    return (synth(404));
  } elsif (req.http.X-Do == "synth-reason") {
    return (synth(403, "Not for you"));
  } elsif (req.http.X-Do == "redirect") {
    return (synth(720, "http://example.test/elsewhere"));
  } elsif (req.http.X-Do == "custom-page") {
    return (synth(721));
  } elsif (req.http.X-Do == "fail") {
    return (fail);
  } elsif (req.http.X-Do == "purge") {
    return (purge);
  } elsif (req.http.X-Do == "dead") {
    set req.backend_hint = dead;
  } elsif (req.http.X-Do == "always-miss") {
    set req.hash_always_miss = true;
  } elsif (req.http.X-Do == "hash") {
    return (hash);
  } elsif (req.http.X-Do == "touch") {
    set req.http.X-New = "new" + " " + "header";
    set req.http.X-Double = req.http.X-New + "," + req.http.X-New;
    unset req.http.X-Gone;
    set req.url = regsub(req.url, "\?.*$", "");
    std.log("touched " + req.url);
  } elsif (req.http.X-Do == "null") {
    set req.http.X-Null = req.http.X-Absent;
    set req.http.X-Joined = "a" + req.http.X-Absent + "b";
  }
}

sub vcl_hash {
  if (req.http.X-Hash) {
    hash_data(req.http.X-Hash);
  }
}

sub vcl_backend_fetch {
  if (bereq.http.X-Do == "bereq") {
    set bereq.http.X-Own = "yes";
    unset bereq.http.User-Agent;
    set bereq.url = "/bereq/rewritten";
  }
}

sub vcl_backend_response {
  if (beresp.http.X-Bedo == "short") {
    set beresp.ttl = 0.2s;
    set beresp.grace = 20s;
  } elsif (beresp.http.X-Bedo == "short-nograce") {
    set beresp.ttl = 0.2s;
    set beresp.grace = 0s;
    set beresp.keep = 20s;
  } elsif (beresp.http.X-Bedo == "gone") {
    set beresp.ttl = 0.2s;
    set beresp.grace = 0s;
    set beresp.keep = 0s;
  } elsif (beresp.http.X-Bedo == "uncacheable") {
    set beresp.uncacheable = true;
  } elsif (beresp.http.X-Bedo == "hfp") {
    return (pass(20s));
  } elsif (beresp.http.X-Bedo == "gzip") {
    set beresp.do_gzip = true;
    set beresp.do_stream = false;
  } elsif (beresp.http.X-Bedo == "gunzip") {
    set beresp.do_gunzip = true;
    set beresp.do_stream = false;
  } elsif (beresp.http.X-Bedo == "nostream") {
    set beresp.do_stream = false;
  } elsif (beresp.http.X-Bedo == "headers") {
    unset beresp.http.X-Secret;
    set beresp.http.X-Added = "by vcl_backend_response";
    set beresp.status = 203;
    set beresp.ttl = 1h;
  } elsif (beresp.http.X-Bedo == "abandon") {
    return (abandon);
  } elsif (beresp.http.X-Bedo == "fail") {
    return (fail);
  }
}

sub vcl_deliver {
  if (req.http.X-Do == "deliver") {
    set resp.http.X-Hits = obj.hits;
    set resp.http.X-Client = client.ip;
    unset resp.http.X-Secret;
    if (obj.hits > 0) {
      set resp.http.X-Cache = "HIT";
    } else {
      set resp.http.X-Cache = "MISS";
    }
  } elsif (req.http.X-Do == "deliver-status") {
    set resp.status = 201;
    set resp.reason = "Made up";
  } elsif (req.http.X-Do == "deliver-synth") {
    return (synth(410, "Taken away"));
  }
}

sub vcl_synth {
  if (resp.status == 720) {
    set resp.http.Location = resp.reason;
    set resp.status = 302;
    set resp.reason = "Found";
    synthetic("");
    return (deliver);
  } elsif (resp.status == 721) {
    set resp.status = 200;
    set resp.reason = "OK";
    set resp.http.Content-Type = "text/plain";
    synthetic("a page of our own for " + req.url + {"
"});
    return (deliver);
  }
}
