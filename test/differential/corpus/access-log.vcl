# What goes into the log for those who read it: fields, times, priorities, where a request went and why.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  std.log("begin " + req.method + " " + req.url + " from " + client.ip + " to " + server.ip);
  std.timestamp("Recv");
  std.log("proto " + req.proto + " xff " + req.http.X-Forwarded-For);
  set req.http.X-Req-Id = req.xid;
  std.log("listener " + local.socket + " " + server.identity);
  std.log("numbers " + 1.5 + " " + 10.25 + " " + 90m + " " + (1 + 2 * 3) + " " + (7 % 4) + " " + true + " " + -3);
  std.log("time " + std.real2time(1000000000.0, now) + " " + std.time2integer(std.time("Sun, 09 Sep 2001 01:46:40 GMT"), 0));
  std.log("strings " + std.toupper("abc") + {" "quoted" "} + "tab	end");
  std.log("");
  if (req.http.X-Level) {
    std.log("level " + std.integer(req.http.X-Level, 3) + " " + std.integer(real = 2.7) + " " + std.real(integer = 4));
  }
  if (req.url == "/secret") {
    std.log("password=" + regsuball(req.http.X-Password, ".", "*"));
    unset req.http.X-Password;
  }
  std.syslog(135, "nobody listens to this");
}

sub vcl_hash {
  std.log("hash");
}

sub vcl_hit {
  std.log("hit ttl=" + std.integer(duration = obj.ttl + 0.5s) + " hits=" + obj.hits + " status=" + obj.status + " " + obj.reason + " " + obj.proto);
}

sub vcl_miss {
  std.log("miss");
  std.timestamp("Miss");
}

sub vcl_pass {
  std.log("pass");
}

sub vcl_backend_fetch {
  std.log("fetch " + bereq.method + " " + bereq.url + " " + bereq.proto + " try " + bereq.retries);
  std.timestamp("Ours");
}

sub vcl_backend_response {
  std.log("beresp " + beresp.proto + " " + beresp.status + " " + beresp.reason + " ttl " + beresp.ttl + " grace " + beresp.grace + " from " + beresp.backend.name);
  set beresp.http.X-Seen = "yes";
  unset beresp.http.X-Seen;
  unset beresp.http.X-Never-There;
  set beresp.http.X-Twice = "1";
  set beresp.http.X-Twice = "2";
}

sub vcl_deliver {
  std.log("deliver " + resp.status + " " + resp.reason + " " + resp.proto + " restarts " + req.restarts + " esi " + req.esi_level);
  std.timestamp("Deliver");
}

sub vcl_synth {
  std.log("synth " + resp.status);
}
