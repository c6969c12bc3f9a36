sub finish_recv {
  if (req.http.X-Site) {
    std.log("site:" + req.http.X-Site);
  }
}

sub vcl_deliver {
  set resp.http.X-Last = "lib/last";
}
