vcl 4.1;

import blob;
import directors;
import std;

backend b1 { .host = "127.0.0.1"; .port = "@DEAD@"; }
backend b2 { .host = "127.0.0.1"; .port = "@DEAD@"; }
backend b3 { .host = "127.0.0.1"; .port = "@DEAD@"; }
backend b4 { .host = "127.0.0.1"; .port = "@DEAD@"; }
backend b5 { .host = "127.0.0.1"; .port = "@DEAD@"; }

sub vcl_init {
	new h_even = directors.hash();
	h_even.add_backend(b1);
	h_even.add_backend(b2);
	h_even.add_backend(b3);
	h_even.add_backend(b4);
	h_even.add_backend(b5);

	new h_weight = directors.hash();
	h_weight.add_backend(b1, 1.5);
	h_weight.add_backend(b2, 10);
	h_weight.add_backend(b3, 0);
	h_weight.add_backend(b4, 0.333);
	h_weight.add_backend(b5, 7);

	new h_left = directors.hash();
	h_left.add_backend(b1);
	h_left.add_backend(b2);
	h_left.add_backend(b3);
	h_left.add_backend(b2, 2);
	h_left.remove_backend(b2);
	h_left.add_backend(b5);

	new s_plain = directors.shard();
	s_plain.add_backend(b1);
	s_plain.add_backend(b2);
	s_plain.add_backend(b3);
	s_plain.add_backend(b4);
	s_plain.add_backend(b5);
	s_plain.reconfigure();

	# Left to the end of vcl_init.
	new s_implied = directors.shard();
	s_implied.add_backend(b3);
	s_implied.add_backend(b1);

	new s_ident = directors.shard();
	s_ident.add_backend(b1, ident = "origin-a.example:8080");
	s_ident.add_backend(b2, ident = "origin-b");
	s_ident.add_backend(b1, ident = "again");
	s_ident.add_backend(b4, "b1");
	s_ident.reconfigure(replicas = 25);

	new s_weight = directors.shard();
	s_weight.add_backend(b1, weight = 1.5);
	s_weight.add_backend(b2, weight = 3.99);
	s_weight.add_backend(b3, weight = 0.2);
	s_weight.add_backend(b4, weight = 12);
	s_weight.add_backend(b5);
	s_weight.reconfigure(7);

	new s_one = directors.shard();
	s_one.add_backend(b1);
	s_one.add_backend(b2);
	s_one.add_backend(b3);
	s_one.reconfigure(1);

	new s_many = directors.shard();
	s_many.add_backend(b5);
	s_many.add_backend(b4);
	s_many.add_backend(b2);
	s_many.reconfigure(1000);

	new s_left = directors.shard();
	s_left.add_backend(b1);
	s_left.add_backend(b2);
	s_left.add_backend(b3);
	s_left.add_backend(b3, ident = "b3-again");
	s_left.reconfigure(50);
	s_left.remove_backend(b2);
	s_left.remove_backend(ident = "b3");
	s_left.add_backend(b4);
	s_left.reconfigure(30);

	new s_ramp = directors.shard();
	s_ramp.add_backend(b1);
	s_ramp.add_backend(b2, rampup = 100000d);
	s_ramp.add_backend(b3);
	s_ramp.add_backend(b4, rampup = 100000d);
	s_ramp.reconfigure();

	new p_url = directors.shard_param();
	p_url.set(by = URL, alt = 1, healthy = ALL);
	new s_param = directors.shard();
	s_param.add_backend(b1);
	s_param.add_backend(b2);
	s_param.add_backend(b3);
	s_param.associate(p_url.use());
}

sub vcl_recv {
	if (req.url ~ "^/fetch") {
		return (pass);
	}
	return (synth(200));
}

sub vcl_synth {
	set resp.http.h-even = h_even.backend(req.url);
	set resp.http.h-weight = h_weight.backend(req.url);
	set resp.http.h-left = h_left.backend(req.url);
	set resp.http.key = s_plain.key(req.url);
	set resp.http.s-plain = s_plain.backend();
	set resp.http.s-url = s_plain.backend(by = URL, alt = 1);
	set resp.http.s-key = s_plain.backend(by = KEY, key = s_plain.key(req.http.host + req.url));
	set resp.http.s-blob = s_plain.backend(by = BLOB, key_blob = blob.decode(IDENTITY, encoded = regsub(req.url, "^.*(....)$", "\1")));
	set resp.http.s-short = s_plain.backend(by = BLOB, key_blob = blob.decode(IDENTITY, encoded = regsub(req.url, "^.*(...)$", "\1")));
	set resp.http.s-alt2 = s_plain.backend(alt = 2);
	set resp.http.s-alt4 = s_plain.backend(alt = 4);
	set resp.http.s-alt9 = s_plain.backend(alt = 9);
	set resp.http.s-all0 = s_plain.backend(healthy = ALL);
	set resp.http.s-all1 = s_plain.backend(alt = 1, healthy = ALL);
	set resp.http.s-all3 = s_plain.backend(alt = 3, healthy = ALL);
	set resp.http.s-ign0 = s_plain.backend(healthy = IGNORE);
	set resp.http.s-ign2 = s_plain.backend(alt = 2, healthy = IGNORE);
	set resp.http.s-warm = s_plain.backend(warmup = 1);
	set resp.http.s-warm-alt = s_plain.backend(warmup = 1, alt = 1);
	set resp.http.s-warm-ign = s_plain.backend(warmup = 1, healthy = IGNORE);
	set resp.http.s-implied = s_implied.backend();
	set resp.http.s-ident = s_ident.backend();
	set resp.http.s-weight = s_weight.backend();
	set resp.http.s-one = s_one.backend();
	set resp.http.s-many = s_many.backend();
	set resp.http.s-left = s_left.backend();
	set resp.http.s-ramp = s_ramp.backend();
	set resp.http.s-ramp-off = s_ramp.backend(rampup = false);
	set resp.http.s-ramp-warm = s_ramp.backend(warmup = 1);
	set resp.http.s-ramp-all = s_ramp.backend(healthy = ALL);
	set resp.http.s-param = s_param.backend();
	set resp.http.s-param-over = s_param.backend(alt = 0);
	return (deliver);
}

sub vcl_backend_fetch {
	set bereq.http.s-hash = s_plain.backend();
	set bereq.http.s-url = s_plain.backend(by = URL);
	set bereq.http.s-param = s_param.backend();
	p_url.set(alt = 2);
	set bereq.http.s-task = s_param.backend();
	set bereq.http.p-task = p_url.get_by() + p_url.get_key() + p_url.get_alt() + p_url.get_healthy();
	p_url.set(by = HASH);
	set bereq.http.p-again = p_url.get_by() + p_url.get_key() + p_url.get_alt() + p_url.get_healthy();
	p_url.clear();
	set bereq.http.p-clear = p_url.get_by() + p_url.get_key() + p_url.get_alt() + p_url.get_healthy();
	set bereq.http.h-even = h_even.backend(bereq.url);
	return (error(200));
}

sub vcl_backend_error {
	set beresp.http.s-hash = bereq.http.s-hash;
	set beresp.http.s-url = bereq.http.s-url;
	set beresp.http.s-param = bereq.http.s-param;
	set beresp.http.s-task = bereq.http.s-task;
	set beresp.http.p-task = bereq.http.p-task;
	set beresp.http.p-again = bereq.http.p-again;
	set beresp.http.p-clear = bereq.http.p-clear;
	set beresp.http.h-even = bereq.http.h-even;
	return (deliver);
}
