# Retry-After: say when to come back, in place of the builtin program's five seconds.
#
# The builtin vcl_synth and vcl_backend_error run after yours, fill the page and set "Retry-After: 5". A value that you
# set before is overwritten: return (deliver) ends the state, so that the builtin part does not run. Statuses that you do
# not handle still get the builtin page.
#
#     curl -i http://localhost:8080/maintenance     # 503, Retry-After: 120
#     curl -i http://localhost:8080/blocked         # 403, Retry-After: 5, the builtin page

vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "8081"; }

sub vcl_recv {
	if (req.url == "/maintenance") {
		return (synth(503, "Maintenance"));
	}
	if (req.url == "/blocked") {
		return (synth(403));
	}
}

sub vcl_synth {
	if (resp.status == 503) {
		set resp.http.Retry-After = "120";
		set resp.http.Content-Type = "text/plain; charset=utf-8";
		set resp.body = "Back in two minutes." + {"
"};
		return (deliver);
	}
}

# No backend answered: let clients wait a little longer, and show the error to all of them for a second.
sub vcl_backend_error {
	set beresp.http.Retry-After = "30";
	set beresp.http.Content-Type = "text/plain; charset=utf-8";
	set beresp.body = "The site is not available at the moment." + {"
"};
	set beresp.ttl = 1s;
	return (deliver);
}
