# Invalidation over HTTP, for those whom the program's acl `invalidators` names:
#
#     acl invalidators { "127.0.0.1"; "10.0.0.0"/8; }
#     include "invalidate.vcl";
#
# The file comes before the program's own vcl_recv. Everybody else gets 405.
#
#     PURGE url               all variants of the URL go
#     PURGE, xkey: a b        everything that carries one of these surrogate keys goes
#     SOFTPURGE url           all variants become stale: they serve while their grace lasts, and are fetched anew
#     SOFTPURGE, xkey: a b    the same by surrogate key
#     REFRESH url             this very request fetches the URL anew, and once its answer is whole all else that was
#                             there goes, variants and all. If the origin fails, it stays, unless the program gives the
#                             error a life (set beresp.ttl = 10s). To have it gone whatever comes: PURGE, then GET
#     BAN, x-ban: EXPRESSION  everything goes that matches: obj.http.content-type ~ ^image/
#     BAN, x-version: 17      everything goes whose x-version is 17
#     SOFTBAN                 as BAN, but what matches becomes stale
#
# In a fleet all of it is done on every proxy, and the answer's X-Fleet says how far it has come; a 504 says that it was done
# here and may not reach the others: ask again. Behind an edge network (import edge) a 207 says that it was done here and the edge
# was not told; the log says why.
#
# The answer's X-Invalidated is the number of objects, where it is known at once. By ban and version without a request
# field in the expression, so that the lurker can work. For a purge by version put the field's name into the
# parameter xkey_fields ("xkey X-Version"), and its value into the request's xkey.

import fleet;
import purge;
import std;
import xkey;

sub vcl_recv {
	if (req.restarts == 0 && req.method ~ "^(PURGE|SOFTPURGE|REFRESH|BAN|SOFTBAN)$") {
		unset req.http.X-Invalidated;
		if (client.ip !~ invalidators) {
			return (synth(405, "Not allowed"));
		}
		if (req.method ~ "BAN$") {
			if (req.http.x-version) {
				set req.http.x-ban = "obj.http.x-version == " + req.http.x-version;
			}
			if (!req.http.x-ban) {
				return (synth(400, "No x-ban"));
			}
			if (req.method == "BAN" && std.ban(req.http.x-ban)) {
				return (synth(200, "Banned"));
			}
			if (req.method == "SOFTBAN" && std.softban(req.http.x-ban)) {
				return (synth(200, "Banned"));
			}
			return (synth(400, std.ban_error()));
		}
		# Keys may come on several lines.
		std.collect(req.http.xkey);
		if (req.http.xkey && req.method == "PURGE") {
			set req.http.X-Invalidated = xkey.purge(req.http.xkey);
			return (synth(200, "Purged"));
		}
		if (req.http.xkey && req.method == "SOFTPURGE") {
			set req.http.X-Invalidated = xkey.softpurge(req.http.xkey);
			return (synth(200, "Purged"));
		}
		if (req.method != "REFRESH") {
			# Somebody else's fetch is nothing to wait for.
			set req.hash_ignore_busy = true;
			return (hash);
		}
		# From here on it is a GET like any other, but for the lookup.
		set req.method = "GET";
		set req.hash_always_miss = true;
		set req.http.X-Invalidated = "refresh";
	}
}

sub invalidate_others {
	if (req.http.X-Invalidated == "refresh" && client.ip ~ invalidators) {
		unset req.http.X-Invalidated;
		purge.others();
	}
}

# Both in a hit and in a miss: there may be variants that this request does not match.
sub invalidate_key {
	if (req.method == "PURGE") {
		set req.http.X-Invalidated = purge.hard();
		return (synth(200, "Purged"));
	}
	if (req.method == "SOFTPURGE") {
		set req.http.X-Invalidated = purge.soft();
		return (synth(200, "Purged"));
	}
}

sub vcl_hit {
	call invalidate_key;
}

sub vcl_miss {
	call invalidate_key;
	call invalidate_others;
}

# A marker says that responses of this URL are not kept: there is nothing to purge.
sub vcl_pass {
	if (req.method == "PURGE" || req.method == "SOFTPURGE") {
		set req.http.X-Invalidated = "0";
		return (synth(200, "Purged"));
	}
	call invalidate_others;
}

sub vcl_synth {
	if (req.http.X-Invalidated && req.method ~ "PURGE$") {
		set resp.http.X-Invalidated = req.http.X-Invalidated;
	}
	if (fleet.reply() != "") {
		set resp.http.X-Fleet = fleet.reply();
	}
}
