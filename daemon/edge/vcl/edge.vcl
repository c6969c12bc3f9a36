# Parts of the edge connector as subroutines, for programs that call them one by one. edge_auto.vcl calls them all.
#
# `invalidators` is the acl of those who may purge: edit it. Everybody else gets 403.

import edge;
import fleet;
import purge;
import std;

acl invalidators {
	"127.0.0.1";
	"::1";
}

# The test object, purges, and no grace for the edge: it would take an old copy for a new one.
sub edge_recv {
	if (edge.is_test_object()) {
		return (synth(200));
	}
	if (edge.revalidates()) {
		set req.grace = 0s;
	}
	if (req.restarts == 0 && req.method ~ "^(PURGE|SOFTPURGE|REFRESH|BAN|SOFTBAN)$") {
		if (client.ip !~ invalidators) {
			return (synth(403, "Forbidden"));
		}
		call edge_invalidate;
	}
}

sub edge_invalidate {
	if (req.method ~ "BAN$") {
		if (req.http.x-version) {
			set req.http.x-ban = "obj.http.x-version == " + req.http.x-version;
		}
		if (!req.http.x-ban) {
			return (synth(400, "No x-ban"));
		}
		if (req.method == "BAN") {
			std.log("edge: " + edge.ban(req.http.x-ban));
		} else {
			std.log("edge: " + edge.softban(req.http.x-ban));
		}
		if (edge.error() != "") {
			return (synth(400, "Not a ban"));
		}
		return (synth(200));
	}
	# Keys may come on several lines.
	std.collect(req.http.xkey);
	if (req.http.xkey && req.method == "PURGE") {
		std.log("edge: " + edge.purge_tags(req.http.xkey));
		return (synth(200));
	}
	if (req.http.xkey && req.method == "SOFTPURGE") {
		std.log("edge: " + edge.softpurge_tags(req.http.xkey));
		return (synth(200));
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

# In vcl_hit, vcl_miss and vcl_pass: there may be variants that this request does not match, and copies at the edge of
# what is not kept here.
sub edge_purge {
	if (req.method == "PURGE") {
		std.log("edge: " + edge.purge());
		return (synth(200));
	}
	if (req.method == "SOFTPURGE") {
		std.log("edge: " + edge.softpurge());
		return (synth(200));
	}
	# What a REFRESH has fetched takes the place of all else, once it is whole; if the origin fails, all stays.
	if (req.http.X-Invalidated == "refresh" && client.ip ~ invalidators) {
		unset req.http.X-Invalidated;
		purge.others();
	}
}

# In vcl_purge, for older programs: edge_purge does it now.
sub edge_refresh {
}

sub edge_deliver {
	edge.headers();
}

sub edge_synth {
	if (resp.status == 200 && edge.is_test_object()) {
		edge.test_object();
		return (deliver);
	}
	if (fleet.reply() != "") {
		set resp.http.X-Fleet = fleet.reply();
	}
	if (resp.status == 200 && edge.reply() != "") {
		# Done here, and not at the edge.
		if (edge.refused()) {
			set resp.status = 207;
			set resp.reason = "Multi-Status";
		}
		set resp.http.Content-Type = "application/json";
		set resp.body = edge.reply();
		return (deliver);
	}
}
