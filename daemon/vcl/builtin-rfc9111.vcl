# What the builtin program has in the place of its own subs of these names where http_profile is rfc9111: there the
# core judges requests and responses by RFC 9111, and Cookie and Authorization alone keep nothing out of the cache.

sub vcl_req_method {
	# The preface of HTTP/2 is no request.
	if (req.method == "PRI") {
		return (synth(405));
	}
	# An unknown method may change what is stored: its answer is looked at, so it gets no tunnel.
	if (req.method != "GET" && req.method != "HEAD") {
		return (pass);
	}
}

# Whether an answer to someone in particular may be stored is its origin's to say (RFC 9111 section 3.5).
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
