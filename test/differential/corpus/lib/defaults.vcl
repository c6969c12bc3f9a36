backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub common_recv {
  set req.http.X-Site = "";
  call site_a;
  call site_b;
  call finish_recv;
}
