# Addresses that mean the same get one object: sorted parameters, no empty ones, no campaign, lower case hosts.
vcl 4.1;

import std;
import str;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub strip_campaign {
  set req.url = regsuball(req.url, "([?&])(utm_\w+|gclid|mc_[ce]id|ref)=[^&]*", "\1");
  set req.url = regsuball(req.url, "&&+", "&");
  set req.url = regsub(req.url, "\?&", "?");
  set req.url = regsub(req.url, "[?&]$", "");
}

sub strip_empty {
  set req.url = regsuball(req.url, "([?&])[^=&]+=(?=&|$)", "\1");
  set req.url = regsuball(req.url, "(?<=[?&])&+", "");
  set req.url = regsub(req.url, "[?&]+$", "");
}

sub normalise_path {
  # Dots and doubled slashes, percent-encoded letters that need no encoding.
  set req.url = regsuball(req.url, "/\./", "/");
  set req.url = regsuball(req.url, "//+", "/");
  set req.url = regsub(req.url, "/[^/?]+/\.\./", "/");
  set req.url = regsuball(req.url, "%7[eE]", "~");
  set req.url = regsuball(req.url, "%2[dD]", "-");
}

sub vcl_recv {
  set req.http.Host = std.tolower(req.http.Host);
  set req.http.Host = regsub(req.http.Host, ":(80|443)$", "");
  set req.http.Host = regsub(req.http.Host, "\.$", "");
  call normalise_path;
  if (req.url ~ "\?") {
    call strip_campaign;
    call strip_empty;
    set req.url = std.querysort(req.url);
  }
  if (std.fnmatch("/static/*/v[0-9]*.js", req.url)) {
    set req.http.X-Static = "script";
  }
  if (str.endswith(req.url, "/index.html")) {
    set req.url = regsub(req.url, "index\.html$", "");
  }
  set req.http.X-Path = regsub(req.url, "\?.*", "");
  set req.http.X-Query = regsub(req.url, "^[^?]*\??", "");
  if (str.count(req.url) > 60) {
    return (synth(414, "Too long"));
  }
}

sub vcl_backend_response {
  set beresp.ttl = 1m;
}

sub vcl_deliver {
  set resp.http.X-Url = req.url;
  set resp.http.X-Path = req.http.X-Path;
  set resp.http.X-Query = req.http.X-Query;
  set resp.http.X-Static = req.http.X-Static;
  set resp.http.X-Part = std.strstr(req.url, "/b");
}
