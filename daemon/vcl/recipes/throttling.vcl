# Throttling: limit how often a client may do something.
#
# Each client has a bucket of five logins that fills up again within an hour; a client with an empty bucket gets 429
# without a request to the backend. Behind another proxy client.ip is the address of that proxy: use the PROXY protocol, or
# a header that it sets and clients cannot.
#
#     for i in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%{http_code}\n' -X POST http://localhost:8080/login; done   # the last: 429

vcl 4.1;

import vsthrottle;

backend default { .host = "127.0.0.1"; .port = "8081"; }

sub vcl_recv {
	if (req.method == "POST" && req.url == "/login") {
		if (vsthrottle.is_denied("login:" + client.ip, 5, 1h)) {
			return (synth(429, "Too Many Requests"));
		}
	}
}
