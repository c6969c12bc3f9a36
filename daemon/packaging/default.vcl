# The program of proxyd.service: proxy-vcl(7) has the language. `systemctl reload proxyd` loads it anew and keeps the former
# one when it has an error; `proxyd -C -f /etc/proxyd/default.vcl` only checks it.
vcl 4.1;

# Your origin.
backend default {
  .host = "127.0.0.1";
  .port = "8080";
}

sub vcl_recv {
}

sub vcl_backend_response {
}

sub vcl_deliver {
}
