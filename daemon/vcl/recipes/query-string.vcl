# Normalise the query string: one object for URLs that mean the same.
#
# Parameters of campaigns are removed, the rest is sorted, and an empty query disappears. Sort only if the order has no
# meaning for the backend; parameters of the same name are sorted by their values, too.
#
#     curl -I 'http://localhost:8080/p?b=2&utm_source=mail&a=1'
#     curl -I 'http://localhost:8080/p?a=1&b=2&gclid=7'         # a hit

vcl 4.1;

import std;

backend default { .host = "127.0.0.1"; .port = "8081"; }

sub vcl_recv {
	if (req.url ~ "\?") {
		# Each match takes the mark before the parameter with it, and the next one still has its own.
		set req.url = regsuball(req.url, "([?&])(utm_[a-z]+|gclid|fbclid)(=[^&]*)?", "\1");
		set req.url = std.querysort(req.url);
		set req.url = regsub(req.url, "\?$", "");
	}
}
