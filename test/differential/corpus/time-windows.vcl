# Offers that begin and end: times are read, compared, added to and written down.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub read_clock {
  # A test brings its own clock, in the form of HTTP dates or seconds.
  set req.http.X-Now = std.time(req.http.X-Clock, std.real2time(0.0, now));
}

sub vcl_recv {
  call read_clock;
  if (std.time(req.http.X-Clock, std.real2time(0.5, now)) < std.time("Fri, 01 Jan 2021 00:00:00 GMT")) {
    set req.http.X-Phase = "before";
  } elsif (std.time(req.http.X-Clock, std.real2time(0.5, now)) >= std.time("2022-01-01T00:00:00")) {
    set req.http.X-Phase = "after";
  } else {
    set req.http.X-Phase = "during";
  }
  if (req.http.X-Clock) {
    set req.http.X-Tomorrow = std.time(req.http.X-Clock, std.real2time(0.5, now)) + 1d;
    set req.http.X-Yesterday = std.time(req.http.X-Clock, std.real2time(0.5, now)) - 24h;
    set req.http.X-Since = std.time(req.http.X-Clock, std.real2time(0.5, now)) - std.time("2021-06-01T00:00:00");
    set req.http.X-Seconds = std.time2integer(std.time(req.http.X-Clock, std.real2time(0.5, now)), 0);
    set req.http.X-Real = std.time2real(std.time(req.http.X-Clock, std.real2time(0.5, now)), 0.0);
    set req.http.X-Day = std.strftime(std.time(req.http.X-Clock, std.real2time(0.5, now)), "%Y-%m-%d %H:%M:%S %A %j %U");
  }
  set req.http.X-Patience = std.duration(req.http.X-Wait, 7s) * 2;
  if (std.duration(req.http.X-Wait, 7s) > 1m) {
    return (synth(400, "Too long"));
  }
  set req.http.X-Sizes = std.bytes(req.http.X-Size, 5B);
  set req.http.X-Whole = std.integer(req.http.X-Wait, 42) + " " + std.real2integer(2.5, 0) + " " + std.round(2.5) + " " + std.round(-1.4);
  if (req.url ~ "^/offer" && req.http.X-Phase != "during") {
    return (synth(404, "No offer " + req.http.X-Phase));
  }
}

sub vcl_backend_response {
  set beresp.ttl = 1m;
}

sub vcl_deliver {
  set resp.http.X-Phase = req.http.X-Phase;
  set resp.http.X-Now = req.http.X-Now;
  set resp.http.X-Tomorrow = req.http.X-Tomorrow;
  set resp.http.X-Since = req.http.X-Since;
  set resp.http.X-Day = req.http.X-Day;
  set resp.http.X-Patience = req.http.X-Patience;
  set resp.http.X-Sizes = req.http.X-Sizes;
  set resp.http.X-Whole = req.http.X-Whole;
}
