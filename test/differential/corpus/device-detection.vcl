# Phones, tablets, consoles and robots by User-Agent; pages vary on the class, not on the whole field.
vcl 4.1;

include "lib/devices.vcl";

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub vcl_recv {
  call detect_device;
  if (req.http.Cookie ~ "(^|;\s*)device=(phone|tablet|desktop)(;|$)") {
    set req.http.X-Device = regsub(req.http.Cookie, "^(?:.*;\s*)?device=(\w+).*$", "\1");
    set req.http.X-Forced = "1";
  }
  unset req.http.Cookie;
  if (req.http.X-Device == "robot" && req.url ~ "^/(search|cart)") {
    return (synth(403, "No robots"));
  }
  if (req.http.X-Device == "phone" && req.http.Host !~ "^m\." && req.url == "/") {
    return (synth(752, "http://m." + req.http.Host + "/"));
  }
}

sub vcl_backend_fetch {
  if (bereq.http.X-Device ~ "^(phone|tablet)$") {
    set bereq.http.X-UA-Original = bereq.http.User-Agent;
    set bereq.http.User-Agent = "class/" + bereq.http.X-Device;
  }
}

sub vcl_backend_response {
  if (bereq.http.X-Device) {
    if (!beresp.http.Vary) {
      set beresp.http.Vary = "X-Device";
    } elsif (beresp.http.Vary !~ "X-Device") {
      set beresp.http.Vary = beresp.http.Vary + ", X-Device";
    }
  }
  set beresp.http.X-Device-Used = bereq.http.X-Device;
}

sub vcl_deliver {
  if (req.http.X-Device && resp.http.Vary) {
    # The world outside knows nothing of our field.
    set resp.http.Vary = regsub(resp.http.Vary, "X-Device", "User-Agent");
  }
  if (req.http.X-Forced) {
    set resp.http.X-Forced = req.http.X-Forced;
  }
}

sub vcl_synth {
  if (resp.status == 752) {
    set resp.status = 302;
    set resp.http.Location = resp.reason;
    set resp.reason = "Found";
    return (deliver);
  }
}
