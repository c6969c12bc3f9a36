# Replacements of builtin subs for http_profile=rfc9111: the core applies RFC 9111 to requests and responses, and
# Cookie or Authorization alone do not prevent caching.

sub vcl_req_method {
	# The HTTP/2 preface is not a request.
	if (req.method == "PRI") {
		return (synth(405));
	}
	# An unknown method may invalidate stored responses: its response is inspected, so it is not piped.
	if (req.method != "GET" && req.method != "HEAD") {
		return (pass);
	}
}

# The origin decides whether a response to an authorized request may be stored (RFC 9111 section 3.5).
sub vcl_req_authorization {
}

sub vcl_req_cookie {
}

sub vcl_beresp_stale {
}

sub vcl_beresp_cookie {
}

sub vcl_beresp_control {
}
