# Cookies: keep the ones that the site needs, so that the others do not prevent caching.
#
# A request with any cookie is passed by the builtin program. Most cookies belong to scripts in the browser and mean
# nothing to the backend. Only the session remains here; without one the request has no Cookie header and can be cached.
#
#     curl -I -H 'Cookie: _ga=1; theme=dark' http://localhost:8080/    # twice: Age shows a hit
#     curl -I -H 'Cookie: _ga=1; session=x' http://localhost:8080/     # always from the backend

vcl 4.1;

import cookie;

backend default { .host = "127.0.0.1"; .port = "8081"; }

sub vcl_recv {
	# Files are the same for everyone.
	if (req.url ~ "(?i)\.(css|js|png|jpg|svg|woff2)(\?|$)") {
		unset req.http.Cookie;
	}
	if (req.http.Cookie) {
		cookie.parse(req.http.Cookie);
		cookie.keep("session");
		set req.http.Cookie = cookie.get_string();
		if (req.http.Cookie == "") {
			unset req.http.Cookie;
		}
	}
}
