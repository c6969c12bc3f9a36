# ESI: a page that is cached, with a part that is not.
#
# HTML is searched for <esi:include src="/basket"/> while it is fetched. At each delivery the parts are put in, each with a
# lifetime of its own: the page may live for an hour, and the basket is asked for each time.
#
#     curl http://localhost:8080/page     # twice: only the basket is new

vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "8081"; }

sub vcl_recv {
	# The page is for everyone; only the basket belongs to the client.
	if (req.url == "/basket") {
		return (pass);
	}
	if (req.esi_level == 0) {
		set req.http.X-Cookie = req.http.Cookie;
		unset req.http.Cookie;
	}
}

sub vcl_backend_fetch {
	if (bereq.url == "/basket" && bereq.http.X-Cookie) {
		set bereq.http.Cookie = bereq.http.X-Cookie;
	}
	unset bereq.http.X-Cookie;
}

sub vcl_backend_response {
	if (beresp.http.Content-Type ~ "^text/html") {
		set beresp.do_esi = true;
	}
}
