# Serve stale on error: while the backend fails, keep the good copy.
#
# Objects serve for a day after their lifetime. A refresh in the background that brings an error is abandoned, so that the
# old copy stays and the next request tries again. An error for which there is no old copy reaches the client and is kept for
# a second, so that a failing backend does not get each request.
#
#     curl -I http://localhost:8080/news     # with the backend answering 500: still 200, and Age grows

vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "8081"; }

sub vcl_backend_response {
	if (beresp.status >= 500) {
		if (bereq.is_bgfetch) {
			return (abandon);
		}
		set beresp.ttl = 1s;
		set beresp.grace = 0s;
	} else {
		set beresp.grace = 24h;
	}
}

# The backend did not answer at all: the same.
sub vcl_backend_error {
	if (bereq.is_bgfetch) {
		return (abandon);
	}
}
