# Purge by key: remove all objects that show the same thing.
#
# The backend names what a response is made of in a header xkey ("article-17 author-4"). One PURGE with a key removes every
# object that carries it, whatever their URLs are. invalidate.vcl has more ways to invalidate, ready for use.
#
#     curl -X PURGE -H 'xkey: article-17' http://localhost:8080/     # X-Purged: 2

vcl 4.1;

import xkey;

backend default { .host = "127.0.0.1"; .port = "8081"; }

acl purgers {
	"127.0.0.1";
	"::1";
}

sub vcl_recv {
	if (req.method == "PURGE") {
		if (client.ip !~ purgers) {
			return (synth(405, "Not allowed"));
		}
		if (!req.http.xkey) {
			return (synth(400, "No xkey"));
		}
		set req.http.X-Purged = xkey.purge(req.http.xkey);
		return (synth(200, "Purged"));
	}
}

sub vcl_synth {
	if (req.http.X-Purged) {
		set resp.http.X-Purged = req.http.X-Purged;
	}
}

# The keys are for us alone.
sub vcl_deliver {
	unset resp.http.xkey;
}
