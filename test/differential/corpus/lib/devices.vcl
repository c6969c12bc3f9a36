sub detect_device {
  unset req.http.X-Device;
  set req.http.X-Device = "desktop";
  if (req.http.User-Agent ~ "(?i)(googlebot|bingbot|crawler|spider|slurp)") {
    set req.http.X-Device = "robot";
  } elsif (req.http.User-Agent ~ "(?i)ip(hone|od)" ||
           req.http.User-Agent ~ "(?i)android.*(mobile|mini)" ||
           req.http.User-Agent ~ "Opera M(ob|in)i") {
    set req.http.X-Device = "phone";
  } elsif (req.http.User-Agent ~ "(?i)ipad" || req.http.User-Agent ~ "(?i)android(?!.*mobile)") {
    set req.http.X-Device = "tablet";
  } elseif (req.http.User-Agent ~ {"(?x) playstation | xbox   # both
                                        | nintendo "}) {
    set req.http.X-Device = "console";
  }
  if (!req.http.User-Agent) {
    unset req.http.X-Device;
  }
}
