# One page, one key: removes campaign parameters, sorts the rest, and removes duplicates.

vcl 4.1;

import querystring;

backend default {
	.host = "127.0.0.1";
	.port = "8080";
}

sub vcl_init {
	new campaigns = querystring.filter(sort = true, uniq = true);
	campaigns.add_glob("utm_*");
	campaigns.add_string("gclid");
	campaigns.add_regex("^fb[a-z]+$");
}

sub vcl_recv {
	set req.url = campaigns.apply(mode = drop);
}
