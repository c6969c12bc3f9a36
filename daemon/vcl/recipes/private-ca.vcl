# HTTPS origin with a private CA: TLS to a backend whose certificate comes from an authority of your own.
#
# The file has the certificates of the authorities to trust, in PEM; it is read when the program is loaded. The certificate
# must have the name in .ssl_name, which the backend is asked for as well. Errors of TLS are in the log in words. A backend
# that wants a certificate from its clients gets it with .ssl_cert and .ssl_key.
#
#     curl -i http://localhost:8080/         # 503 if the certificate does not come from the authority
#     proxylog -d -i BackendSSL,FetchError   # version and cipher of each handshake, or why it failed

vcl 4.1;

backend default {
	.host = "127.0.0.1";
	.port = "8081";
	.ssl = 1;
	.ssl_ca = "/etc/ssl/private-ca.pem";
	.ssl_name = "origin.internal";
}
