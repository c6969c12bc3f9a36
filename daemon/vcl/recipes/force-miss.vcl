# Force a miss without a purge.
#
# A request with "Cache-Control: no-cache" from one of our own machines fetches a new copy, which replaces the old one.
# Other clients cannot cause fetches that way. Unlike a purge it leaves the old copy in place if the backend fails.
#
#     curl -I -H 'Cache-Control: no-cache' http://localhost:8080/news    # Age: 0
#     curl -I http://localhost:8080/news                                # a hit on the new copy

vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "8081"; }

acl refreshers {
	"127.0.0.1";
	"::1";
}

sub vcl_recv {
	if (req.http.Cache-Control ~ "no-cache" && client.ip ~ refreshers) {
		set req.hash_always_miss = true;
	}
}
