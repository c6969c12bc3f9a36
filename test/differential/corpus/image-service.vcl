# Pictures in sizes: parameters are checked and put into order, formats chosen by Accept, failures get a pixel.
vcl 4.1;

import std;
import blob;

backend resizer { .host = "127.0.0.1"; .port = "@ORIGIN@"; .first_byte_timeout = 0.6s; }
backend store { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub pick_format {
  if (req.http.Accept ~ "image/avif") {
    set req.http.X-Format = "avif";
  } elsif (req.http.Accept ~ "image/webp(?!;q=0(\.0+)?(,|$))") {
    set req.http.X-Format = "webp";
  } else {
    set req.http.X-Format = "jpeg";
  }
}

sub check_size {
  set req.http.X-Width = regsub(req.url, "^.*[?&]w=(\d{1,4})(&.*)?$", "\1");
  if (req.http.X-Width == req.url) {
    set req.http.X-Width = "0";
  }
  if (std.integer(req.http.X-Width, 0) > 2000) {
    return (synth(400, "Too wide"));
  } elseif (std.integer(req.http.X-Width, 0) == 0) {
    set req.backend_hint = store;
    set req.url = regsub(req.url, "\?.*", "");
  } else {
    set req.backend_hint = resizer;
    # Three sizes are enough.
    if (std.integer(req.http.X-Width, 0) <= 320) {
      set req.http.X-Width = 320;
    } elseif (std.integer(req.http.X-Width, 0) <= 800) {
      set req.http.X-Width = 800;
    } else {
      set req.http.X-Width = 2000;
    }
    set req.url = regsub(req.url, "\?.*", "") + "?w=" + req.http.X-Width + "&f=" + req.http.X-Format;
  }
}

sub vcl_recv {
  if (req.method !~ "^(GET|HEAD)$") {
    return (synth(405, "Method Not Allowed"));
  }
  if (req.url !~ "^/img/[\w/.-]+(\?|$)" || req.url ~ "\.\.") {
    return (synth(404));
  }
  unset req.http.Cookie;
  call pick_format;
  call check_size;
  return (hash);
}

sub vcl_backend_response {
  if (beresp.status == 200 && beresp.http.Content-Type !~ "^image/") {
    return (error(502, "No picture"));
  }
  if (beresp.status == 404) {
    set beresp.ttl = 10s;
    set beresp.grace = 0s;
  } elsif (beresp.status != 200) {
    return (error(beresp.status, beresp.reason));
  } else {
    set beresp.ttl = 30d;
    set beresp.keep = 7d;
    set beresp.http.Cache-Control = "public, max-age=" + std.integer(duration = 1d, fallback = 0);
  }
  set beresp.http.Vary = "Accept";
}

sub vcl_backend_error {
  if (beresp.status == 503) {
    set beresp.status = 504;
    set beresp.reason = "Resizer Too Slow";
  }
  set beresp.http.Content-Type = "image/gif";
  set beresp.http.X-Pixel = "yes";
  synthetic(blob.transcode(BASE64, IDENTITY, encoded = "R0lGODlhAQ=="));
  set beresp.ttl = 1s;
  return (deliver);
}

sub vcl_synth {
  unset resp.http.Content-Type;
  set resp.http.Allow = "GET, HEAD";
  if (resp.status == 404) {
    set resp.reason = "No Such Picture";
  }
  set resp.body = "";
  return (deliver);
}
