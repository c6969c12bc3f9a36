# Invalidation over HTTP, for clients in the program's acl `invalidators`:
#
#     acl invalidators { "127.0.0.1"; "10.0.0.0"/8; }
#     include "invalidate.vcl";
#
# Include the file before the program's own vcl_recv. All other clients get 405.
#
#     PURGE url               removes all variants of the URL
#     PURGE, xkey: a b        removes all objects with one of these surrogate keys
#     SOFTPURGE url           makes all variants stale: they are served within their grace, and fetched again
#     SOFTPURGE, xkey: a b    the same by surrogate key
#     REFRESH url             fetches the URL again, and once the response is complete removes everything else under
#                             its key, variants included. If the origin fails, it stays, unless the program gives the
#                             error a TTL (set beresp.ttl = 10s). To remove it in any case: PURGE, then GET
#     BAN, x-ban: EXPRESSION  removes all objects that match: obj.http.content-type ~ ^image/
#     BAN, x-version: 17      removes all objects whose x-version is 17
#     SOFTBAN                 as BAN, but makes matching objects stale
#
# In a fleet this happens on every proxy, and the header X-Fleet of the response shows the progress; a 504 means that it was
# done here and may not reach the others: repeat it. Behind an edge network (import edge) a 207 means that it was done here but
# not at the edge; the log has the reason.
#
# The header X-Invalidated of the response is the number of objects, if known at once. Expressions of bans and versions do
# not use request headers, so that the lurker can test them. For a purge by version add the header's name to the
# parameter xkey_fields ("xkey X-Version"), and put its value into the request's xkey.

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
		# There may be several xkey headers.
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
			# Do not wait for a fetch by another request.
			set req.hash_ignore_busy = true;
			return (hash);
		}
		# From here on it is an ordinary GET, except for the lookup.
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

# For hits and misses: there may be variants that this request does not match.
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

# A hit-for-pass marker means that responses of this URL are not stored: there is nothing to purge.
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
