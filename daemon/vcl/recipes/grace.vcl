# Grace: serve the old copy at once, and fetch the new one in the background.
#
# An object whose lifetime is over still serves while its grace lasts; the first such request starts the fetch. Objects
# are kept for six hours after their lifetime. While the backend is healthy only ten seconds of it are used, so that
# nobody sees very old pages; while it is sick, all of it.
#
#     curl -I http://localhost:8080/news     # after max-age: Age is larger than max-age, and the next request has a new copy

vcl 4.1;

import std;

probe health {
	.url = "/health";
	.interval = 5s;
	.timeout = 2s;
	.window = 5;
	.threshold = 3;
	.initial = 3;
}

backend default { .host = "127.0.0.1"; .port = "8081"; .probe = health; }

sub vcl_recv {
	if (std.healthy(req.backend_hint)) {
		set req.grace = 10s;
	}
}

sub vcl_backend_response {
	set beresp.grace = 6h;
}
