# A move to new addresses: a table of redirects, some exact, some by pattern, with permanent and temporary ones.
vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "@ORIGIN@"; }

sub redirect_exact {
  if (req.url == "/old") {
    return (synth(801, "/new"));
  } elsif (req.url == "/shop.php?id=1") {
    return (synth(801, "/shop/first"));
  } elsif (req.url == "/shop.php?id=2") {
    return (synth(801, "/shop/second"));
  } elsif (req.url ~ "^/tmp$") {
    return (synth(802, "/somewhere-else?from=" + req.url));
  } elsif (req.url == "/forever") {
    return (synth(808, "/for-ever"));
  } elsif (req.url == "/gone") {
    return (synth(810));
  }
}

sub redirect_pattern {
  if (req.url ~ "^/blog/\d{4}/\d{2}/[\w-]+/?$") {
    return (synth(801, regsub(req.url, "^/blog/(\d{4})/(\d{2})/([\w-]+)/?$", "/posts/\3?y=\1&m=\2")));
  }
  if (req.url ~ "^/(?:en|de)/(?P<rest>.*)$") {
    return (synth(802, "/" + regsub(req.url, "^/(en|de)/(.*)$", "\2?lang=\1")));
  }
  if (req.url ~ "[A-Z]") {
    return (synth(801, std.tolower(req.url)));
  }
  if (req.url ~ "^[^?]+[^/?]/(\?.*)?$" && req.url !~ "^/keep/") {
    return (synth(808, regsub(req.url, "/(\?.*)?$", "\1")));
  }
}

sub vcl_recv {
  if (req.http.X-Forwarded-Proto != "https" && req.url ~ "^/secure") {
    return (synth(801, "https://" + req.http.Host + req.url));
  }
  call redirect_exact;
  call redirect_pattern;
}

sub vcl_backend_response {
  if (beresp.status == 301 || beresp.status == 302) {
    # The origin knows itself under another name.
    set beresp.http.Location = regsub(beresp.http.Location, "^https?://[^/]+", "");
    set beresp.ttl = 1h;
  }
}

sub vcl_synth {
  if (resp.status >= 801 && resp.status <= 810) {
    if (resp.status == 810) {
      set resp.status = 410;
      set resp.reason = "Gone";
      return (deliver);
    }
    if (resp.reason ~ "^https?://") {
      set resp.http.Location = resp.reason;
    } else {
      set resp.http.Location = "http://" + req.http.Host + resp.reason;
    }
    set resp.status = resp.status - 500;
    if (resp.status == 301) {
      set resp.reason = "Moved Permanently";
    } elseif (resp.status == 302) {
      set resp.reason = "Found";
    } else {
      set resp.reason = "Permanent Redirect";
    }
    set resp.http.Cache-Control = "max-age=3600";
    unset resp.http.Retry-After;
    synthetic("");
    return (deliver);
  }
}
