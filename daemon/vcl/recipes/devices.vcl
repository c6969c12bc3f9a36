# Variants by device: one object for phones and one for all others.
#
# A Vary on User-Agent would make an object for each of thousands of browsers. Here the header is reduced to a word, the
# backend chooses by that word, and objects vary on it. Clients and caches between get the Vary that is true for them.
#
#     curl -A 'Mozilla/5.0 (iPhone) Mobile' http://localhost:8080/
#     curl -A 'Mozilla/5.0 (X11; Linux)' http://localhost:8080/

vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "8081"; }

sub vcl_recv {
	if (req.http.User-Agent ~ "(?i)iphone|android.*mobile|mobile.*firefox") {
		set req.http.X-Device = "phone";
	} else {
		set req.http.X-Device = "desktop";
	}
}

sub vcl_backend_response {
	if (!beresp.http.Vary) {
		set beresp.http.Vary = "X-Device";
	} elseif (beresp.http.Vary !~ "X-Device") {
		set beresp.http.Vary = beresp.http.Vary + ", X-Device";
	}
}

sub vcl_deliver {
	set resp.http.Vary = regsub(resp.http.Vary, "X-Device", "User-Agent");
}
