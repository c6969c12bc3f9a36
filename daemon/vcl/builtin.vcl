# The builtin program. Its subs follow the operator's subs of the same name, so what a program does not
# decide is decided here. Each state calls a sub of its own before it returns: add to those, or to the
# smaller ones below them, to change one decision and keep the rest.

vcl 4.0;

# ---- From the client to the lookup

sub vcl_recv {
	call vcl_builtin_recv;
	return (hash);
}

sub vcl_builtin_recv {
	call vcl_req_url;
	call vcl_req_host;
	call vcl_req_method;
	call vcl_req_authorization;
	call vcl_req_cookie;
}

# Empty under varnish_release=7.1: any form of URL is looked up.
sub vcl_req_url {
}

# Hosts compare without regard to case; HTTP/1.1 demands one (RFC 9112 section 3.2).
sub vcl_req_host {
	if (req.http.host ~ "[[:upper:]]") {
		set req.http.host = req.http.host.lower();
	}
	if (!req.http.host && req.esi_level == 0 && req.proto == "HTTP/1.1") {
		return (synth(400));
	}
}

sub vcl_req_method {
	# The preface of HTTP/2 is no request.
	if (req.method == "PRI") {
		return (synth(405));
	}
	# A method we cannot judge gets a tunnel.
	if (req.method != "GET" && req.method != "HEAD" && req.method != "POST" && req.method != "PUT" &&
	    req.method != "PATCH" && req.method != "DELETE" && req.method != "OPTIONS" && req.method != "TRACE") {
		return (pipe);
	}
	# Only these two ask for what a cache can hold.
	if (req.method != "GET" && req.method != "HEAD") {
		return (pass);
	}
}

# Answers to someone in particular are not for everyone.
sub vcl_req_authorization {
	if (req.http.Authorization) {
		return (pass);
	}
}

sub vcl_req_cookie {
	if (req.http.Cookie) {
		return (pass);
	}
}

sub vcl_hash {
	call vcl_builtin_hash;
	return (lookup);
}

sub vcl_builtin_hash {
	hash_data(req.url);
	if (req.http.host) {
		hash_data(req.http.host);
	} else {
		hash_data(server.ip);
	}
}

# ---- After the lookup

sub vcl_pipe {
	call vcl_builtin_pipe;
	# The proxy adds "Connection: close", so that nothing after this request reaches a backend unseen.
	return (pipe);
}

sub vcl_builtin_pipe {
}

sub vcl_pass {
	call vcl_builtin_pass;
	return (fetch);
}

sub vcl_builtin_pass {
}

sub vcl_purge {
	call vcl_builtin_purge;
	return (synth(200, "Purged"));
}

sub vcl_builtin_purge {
}

sub vcl_hit {
	call vcl_builtin_hit;
	return (deliver);
}

sub vcl_builtin_hit {
}

sub vcl_miss {
	call vcl_builtin_miss;
	return (fetch);
}

sub vcl_builtin_miss {
}

sub vcl_deliver {
	call vcl_builtin_deliver;
	return (deliver);
}

sub vcl_builtin_deliver {
}

# Responses we make: return (synth(...)), and failures on the client side.
sub vcl_synth {
	call vcl_builtin_synth;
	return (deliver);
}

sub vcl_builtin_synth {
	call vcl_resp_status;
	set resp.http.Content-Type = "text/html; charset=utf-8";
	set resp.http.Retry-After = "5";
	set resp.body = {"<!DOCTYPE html>
<html lang="en">
<head><title>"} + resp.status + " " + resp.reason + {"</title></head>
<body>
<h1>"} + resp.status + " " + resp.reason + {"</h1>
<p>This response was made by the proxy, not by the site behind it.</p>
<p>Transaction id: "} + req.xid + {"</p>
<hr>
<address>proxyd</address>
</body>
</html>
"};
}

# Empty under varnish_release=7.1.
sub vcl_resp_status {
}

# ---- The backend side

sub vcl_backend_fetch {
	call vcl_builtin_backend_fetch;
	return (fetch);
}

sub vcl_builtin_backend_fetch {
	if (bereq.method == "GET") {
		unset bereq.body;
	}
}

# A 304 has confirmed a stale object. With varnish_release=7.1 only where the program has a part in it.
sub vcl_backend_refresh {
	call vcl_builtin_backend_refresh;
	return (merge);
}

sub vcl_builtin_backend_refresh {
	call vcl_refresh_valid;
	call vcl_refresh_conditions;
	call vcl_refresh_status;
}

# What has been purged meanwhile must not come back. A retry asks for the whole.
sub vcl_refresh_valid {
	if (!obj_stale.is_valid) {
		return (error(503, "Invalid object for refresh"));
	}
}

# Nobody asked for a 304.
sub vcl_refresh_conditions {
	if (!bereq.http.If-Modified-Since && !bereq.http.If-None-Match) {
		return (error(503, "Unexpected 304"));
	}
}

# A 304 speaks of a 200 (RFC 9110 section 15.4.5).
sub vcl_refresh_status {
	if (obj_stale.status != 200) {
		return (error(503, "Invalid object for refresh (status)"));
	}
}

sub vcl_backend_response {
	call vcl_builtin_backend_response;
	return (deliver);
}

sub vcl_builtin_backend_response {
	call vcl_beresp_range;
	if (bereq.uncacheable) {
		return (deliver);
	}
	call vcl_beresp_stale;
	call vcl_beresp_cookie;
	call vcl_beresp_control;
	call vcl_beresp_vary;
}

# Empty under varnish_release=7.1.
sub vcl_beresp_range {
}

sub vcl_beresp_stale {
	if (beresp.ttl <= 0s) {
		call vcl_beresp_hitmiss;
	}
}

sub vcl_beresp_cookie {
	if (beresp.http.Set-Cookie) {
		call vcl_beresp_hitmiss;
	}
}

# Surrogate-Control speaks to us alone and so comes before Cache-Control.
sub vcl_beresp_control {
	if (beresp.http.Surrogate-Control ~ "(?i)no-store") {
		call vcl_beresp_hitmiss;
	}
	if (!beresp.http.Surrogate-Control && beresp.http.Cache-Control ~ "(?i)no-cache|no-store|private") {
		call vcl_beresp_hitmiss;
	}
}

sub vcl_beresp_vary {
	if (beresp.http.Vary == "*") {
		call vcl_beresp_hitmiss;
	}
}

# For two minutes, or what uncacheable_ttl says, requests for this do not wait for each other.
sub vcl_beresp_hitmiss {
	set beresp.ttl = param.uncacheable_ttl;
	set beresp.uncacheable = true;
	return (deliver);
}

sub vcl_backend_error {
	call vcl_builtin_backend_error;
	return (deliver);
}

sub vcl_builtin_backend_error {
	set beresp.http.Content-Type = "text/html; charset=utf-8";
	set beresp.http.Retry-After = "5";
	set beresp.body = {"<!DOCTYPE html>
<html lang="en">
<head><title>"} + beresp.status + " " + beresp.reason + {"</title></head>
<body>
<h1>"} + beresp.status + " " + beresp.reason + {"</h1>
<p>The site behind the proxy did not give a usable answer.</p>
<p>Transaction id: "} + bereq.xid + {"</p>
<hr>
<address>proxyd</address>
</body>
</html>
"};
}

# ---- Loading and unloading

sub vcl_init {
	return (ok);
}

sub vcl_fini {
	return (ok);
}
