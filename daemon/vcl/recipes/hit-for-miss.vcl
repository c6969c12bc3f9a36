# Hit-for-miss: do not queue requests for a response that cannot be shared.
#
# Requests for the same missing object wait for one fetch. If the response turns out to be for one user only, each of
# them would have to wait for the one before it. A marker kept for two minutes sends them to the backend side by side. As
# soon as a response can be shared, it replaces the marker.
#
#     curl -I http://localhost:8080/hello     # twice, with X-User from the backend: the second says X-Cache: marker

vcl 4.1;

backend default { .host = "127.0.0.1"; .port = "8081"; }

sub vcl_backend_response {
	if (beresp.http.X-User) {
		set beresp.ttl = 120s;
		set beresp.uncacheable = true;
		return (deliver);
	}
}

sub vcl_deliver {
	if (req.is_hitmiss) {
		set resp.http.X-Cache = "marker";
	} elseif (obj.hits > 0) {
		set resp.http.X-Cache = "hit";
	} else {
		set resp.http.X-Cache = "miss";
	}
}
