// Keys of the file of -A, which has the format that hitch made usual: one row each, read by the parser of the daemon
// and by the manual page.

/** Where a key may stand: outside of blocks, in `frontend = { }`, in `pem-file = { }`. */
export type TlsKeyPlace = 'top' | 'frontend' | 'certificate';

export type TlsKeyValue =
  /** One word or string. */
  | 'text'
  /** on or off. */
  | 'flag'
  /** Words with blanks or commas between them. */
  | 'list'
  /** A string or a block; may be given several times. */
  | 'frontend'
  | 'certificate';

export interface TlsKeyRow {
  readonly name: string;
  readonly places: readonly TlsKeyPlace[];
  readonly value: TlsKeyValue;
  /** As shown in the manual. */
  readonly argument: string;
  readonly oneOf?: readonly string[];
  readonly help: string;
}

function row(
  name: string,
  places: readonly TlsKeyPlace[],
  value: TlsKeyValue,
  argument: string,
  help: string,
  oneOf?: readonly string[],
): TlsKeyRow {
  return { name, places, value, argument, help, ...(oneOf && { oneOf }) };
}

const SCOPES = ['top', 'frontend'] as const;
const ALL = ['top', 'frontend', 'certificate'] as const;

// biome-ignore format: a row is a line
export const TLS_FILE_KEYS: readonly TlsKeyRow[] = [
  row('frontend', ['top'], 'frontend', '{ ... } | "[host]:port"',
    'A listener, as -a name=host:port,HTTPS. One at the address of an -a, or with the name of an -a and no address, adds to that.'),
  row('name', ['frontend'], 'text', '"name"', 'The name of the listener; tls0, tls1 ... by default.'),
  row('host', ['frontend'], 'text', '"host"', 'An address or a name; "*" or "" is every address of the machine, as is the lack of it.'),
  row('port', ['frontend'], 'text', '"port"', 'A port number or the name of a service; 443 by default.'),
  row('pem-file', SCOPES, 'certificate', '"file" | { cert = "file" ... }',
    'A certificate: a PEM file with the certificate, those of its authorities and the key, or a block that names them one by one. At the top it is for all listeners that match-global-certs allows it, in a frontend for that one only. Repeatable: the first of a listener is presented to clients that ask for no name, or for one that no certificate has.'),
  row('cert', ALL, 'text', '"file" | "auto"',
    'The certificate and those of its authorities. "auto": proxyd gets one for the names of names from the authority of --acme, and renews it.'),
  row('names', ALL, 'list', 'name, ...', 'With cert = "auto": the names that the certificate is to have.'),
  row('private-key', ['certificate'], 'text', '"file"', 'The key, where it is not in the file of the certificate.'),
  row('ocsp-resp-file', ['certificate'], 'text', '"file"',
    'An OCSP response (DER) to be stapled. By default the file with the name of the certificate followed by .ocsp, if it exists.'),
  row('id', ['certificate'], 'text', '"id"', 'The id in tls.cert.list; cert0, cert1 ... by default.'),
  row('tls-protos', ALL, 'list', 'TLSv1.2 TLSv1.3',
    'Versions of the protocol; TLSv1.2 and TLSv1.3 by default. TLSv1 (TLSv1.0) and TLSv1.1 need --insecure-tls: RFC 8996 forbids them.'),
  row('ciphers', ALL, 'text', '"list"', 'Ciphers of TLS 1.2, in the form of openssl-ciphers(1).'),
  row('ciphersuites', ALL, 'text', '"list"', 'Cipher suites of TLS 1.3, with colons between them.'),
  row('prefer-server-ciphers', ALL, 'flag', 'on | off', 'Whether the order of ciphers here counts, and not that of the client; on by default, with ChaCha20 first for clients that prefer it (they have no hardware for AES).'),
  row('ecdh-curve', ALL, 'text', '"list"', 'Groups of the key exchange, with colons between them; "auto", the default, is X25519, P-256, P-384, and X25519MLKEM768 where the runtime has it.'),
  row('dhparam', ALL, 'text', '"file"', 'Parameters of the Diffie-Hellman exchange of TLS 1.2 (PEM); without them there is none.'),
  row('sni-nomatch-abort', SCOPES, 'flag', 'on | off', 'Whether clients that ask for a name which no certificate has are refused with unrecognized_name; off by default.'),
  row('match-global-certs', ['frontend'], 'flag', 'on | off',
    'Whether certificates of the top are presented here, too; by default where the frontend has none of its own.'),
  row('client-verify', SCOPES, 'text', 'none | optional | required',
    'Whether clients are asked for a certificate, and refused without a valid one; none by default.', ['none', 'optional', 'required']),
  row('client-verify-ca', SCOPES, 'text', '"file"', 'Certificates (PEM) of the authorities that those of clients are to be from.'),
];

/** Keys of hitch that mean something else here, or nothing: they are accepted with a warning. */
export const TLS_FILE_ELSEWHERE: Readonly<Record<string, string>> = {
  'alpn-protos': 'HTTP/2 is offered unless the feature -http2 is set',
  backend: 'the program and -b say where requests go',
  'backend-connect-timeout': 'connect_timeout of a backend does that',
  'backend-refresh': 'addresses of backends are resolved when a program is loaded',
  backlog: 'the parameter listen_depth does that',
  chroot: '-j decides as whom the worker runs',
  daemon: '-F and -d decide whether proxyd stays in the foreground',
  group: '-j decides as whom the worker runs',
  keepalive: 'the parameter tcp_keepalive_time does that',
  'log-filename': '--log-file does that',
  'log-level': '--log-file and the log of requests have everything',
  'ocsp-connect-tmo': 'OCSP responses are read from files only',
  'ocsp-dir': 'OCSP responses are read from files beside the certificates',
  'ocsp-refresh-interval': 'OCSP responses are read from files only',
  'ocsp-resp-tmo': 'OCSP responses are read from files only',
  'ocsp-verify-staple': 'OCSP responses are always held against the certificate and the clock',
  pidfile: '-P does that',
  'proxy-proxy': 'a listener with PROXY in front of TLS is -a address,HTTPS,PROXY',
  'proxy-tlv': 'there is no hop between TLS and the cache',
  quiet: '--log-file does that',
  'recv-bufsize': 'buffers are sized by proxyd',
  'ring-data-len': 'buffers are sized by proxyd',
  'ring-slots': 'buffers are sized by proxyd',
  'send-bufsize': 'buffers are sized by proxyd',
  'session-cache-size': 'sessions are resumed by tickets',
  'shared-cache': 'sessions are resumed by tickets',
  'ssl-engine': 'OpenSSL is that of Node',
  'ssl-handshake-timeout': 'the parameter tls_handshake_timeout does that',
  syslog: '--log-file says where messages go',
  'syslog-facility': '--log-file says where messages go',
  'tcp-fastopen': 'it is not offered',
  user: '-j decides as whom the worker runs',
  workers: 'the parameter worker_threads does that',
  'write-ip': 'there is no hop between TLS and the cache',
  'write-proxy': 'there is no hop between TLS and the cache',
  'write-proxy-v1': 'there is no hop between TLS and the cache',
  'write-proxy-v2': 'there is no hop between TLS and the cache',
};

/** Keys that cannot be ignored, and what to write instead. */
export const TLS_FILE_REFUSED: Readonly<Record<string, string>> = {
  ssl: 'it selects versions that are broken; write tls-protos = TLSv1.2 TLSv1.3',
  tls: 'write tls-protos = TLSv1.2 TLSv1.3',
  'pem-dir': 'name each file: pem-file = "..."',
  'pem-dir-glob': 'name each file: pem-file = "..."',
  'client-verify-crl': 'lists of revoked client certificates are not supported',
};
