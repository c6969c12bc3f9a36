# Replacements of builtin subs for varnish_release=9.0. protocol/tables/release-changes.ts has the reasons.

# A path, "*" for OPTIONS; the method decides about CONNECT.
sub vcl_req_url {
	if (req.method == "CONNECT" || (req.method == "OPTIONS" && req.url == "*")) {
		return;
	}
	if (req.url !~ "^/") {
		return (synth(400));
	}
}

sub vcl_req_method {
	# The HTTP/2 preface is not a request.
	if (req.method == "PRI") {
		return (synth(405));
	}
	# To have a tunnel for a method, return (pipe) from a vcl_req_method of your own.
	if (req.method != "GET" && req.method != "HEAD" && req.method != "POST" && req.method != "PUT" &&
	    req.method != "PATCH" && req.method != "DELETE" && req.method != "OPTIONS" && req.method != "TRACE") {
		return (synth(501));
	}
	if (req.method != "GET" && req.method != "HEAD") {
		return (pass);
	}
}

# A method that nobody here knows may come with a body that nobody here can find the end of.
sub vcl_resp_status {
	if (resp.status == 501) {
		set resp.http.Connection = "close";
	}
}

# Content-Range says nothing in other responses (RFC 9110 section 14.4).
sub vcl_beresp_range {
	if (beresp.status != 206 && beresp.status != 416) {
		unset beresp.http.Content-Range;
	}
}
