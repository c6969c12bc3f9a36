// The TLS of a connection with a peer, for programs and extensions: a client's or an origin's.

import type { X509Certificate } from 'node:crypto';

export interface PeerTls {
  /** `TLSv1.2` or `TLSv1.3`. */
  readonly protocol: string;
  /** OpenSSL's name: `TLS_AES_256_GCM_SHA384`. */
  readonly cipher: string;
  /** The protocol agreed on by ALPN (RFC 7301); null without one. */
  readonly alpn: string | null;
  /** The name asked for by SNI; null without one. */
  readonly serverName: string | null;
  /** Whether the handshake resumed a session. */
  readonly isResumed: boolean;
  /** Whether the chain and the name of the certificate were verified. */
  readonly isVerified: boolean;
  /** Subject of the certificate in one line, in printable ASCII and perhaps shortened; '' without one. */
  readonly subject: string;
  /** The peer's certificate; null without one. */
  readonly certificate: X509Certificate | null;
}
