# Canary: send a part of the clients to a new release, and keep each client where it is.
#
# A client without a group is put into one by chance, five in a hundred into the canary's, and remembers it in a cookie.
# The group is part of the key, so that the releases share no objects. To end the trial, change the 5 to 0 or 100; clients
# that have a cookie keep their group until it expires.
#
#     curl -I http://localhost:8080/                              # Set-Cookie: release=stable
#     curl -I -H 'Cookie: release=canary' http://localhost:8080/  # from the canary

vcl 4.1;

import std;

backend stable { .host = "127.0.0.1"; .port = "8081"; }
backend canary { .host = "127.0.0.1"; .port = "8082"; }

sub vcl_recv {
	unset req.http.X-Release;
	unset req.http.X-New-Release;
	if (req.http.Cookie ~ "(^|;\s*)release=(stable|canary)(;|$)") {
		set req.http.X-Release = regsub(req.http.Cookie, "^(.*;\s*)?release=(stable|canary)(;.*)?$", "\2");
	} else {
		set req.http.X-Release = "stable";
		if (std.random(0, 100) < 5) {
			set req.http.X-Release = "canary";
		}
		set req.http.X-New-Release = "1";
	}
	if (req.http.X-Release == "canary") {
		set req.backend_hint = canary;
	}
	# Nothing here needs other cookies; the recipe cookies.vcl shows how to keep some.
	unset req.http.Cookie;
}

sub vcl_hash {
	hash_data(req.http.X-Release);
}

sub vcl_deliver {
	if (req.http.X-New-Release) {
		set resp.http.Set-Cookie = "release=" + req.http.X-Release + "; Path=/; Max-Age=86400";
		set resp.http.Cache-Control = "private";
	}
}
