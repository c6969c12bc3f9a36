# Several sites in files of their own, found by a pattern, around a common part.
vcl 4.1;

import std;

include "lib/defaults.vcl";
include +glob "./sites/*.vcl";
include "./lib/last.vcl";

sub vcl_recv {
  call common_recv;
}

sub vcl_recv {
  if (req.http.X-Site == "") {
    return (synth(404, "No such site"));
  }
}

sub vcl_backend_response {
  set beresp.http.X-Site = bereq.http.X-Site;
}
