vcl 4.1;

import proxy;
import std;
import unix;

backend default none;

sub vcl_recv {
	if (req.url == "/peer") {
		set req.http.peer = unix.user() + " " + unix.group() + " " + unix.uid() + " " + unix.gid();
	}
	return (synth(200));
}

sub vcl_synth {
	set resp.http.client = "" + client.ip + " " + std.port(client.ip) + " " + client.identity;
	set resp.http.server = "" + server.ip + " " + std.port(server.ip);
	set resp.http.local = "" + local.ip + " " + std.port(local.ip);
	set resp.http.remote = "" + remote.ip + " " + std.port(remote.ip);
	set resp.http.socket = local.socket + " " + local.endpoint;
	set resp.http.forwarded = req.http.X-Forwarded-For;
	set resp.http.peer = req.http.peer;
	set resp.http.alpn = proxy.alpn();
	set resp.http.authority = proxy.authority();
	set resp.http.tls = "" + proxy.is_ssl() + " " + proxy.client_has_cert_sess() + " " +
	    proxy.client_has_cert_conn() + " " + proxy.ssl_verify_result();
	set resp.http.version = proxy.ssl_version();
	set resp.http.cn = proxy.client_cert_cn();
	set resp.http.cipher = proxy.ssl_cipher();
	set resp.http.sign = proxy.cert_sign();
	set resp.http.key = proxy.cert_key();
	set resp.body = "";
	return (deliver);
}
