// A client's connection that becomes a TLS connection: what comes before the handshake (a PROXY preamble, the client's first
// message) is read in clear; secure() then makes OpenSSL take over. Two kinds, as of plain connections: over bare
// handles, and over sockets (tls-socket-wire.ts).

import type { SecureContext } from 'node:tls';
import type { ClientWire } from './client-wire.ts';

export interface TlsSetup {
  readonly context: SecureContext;
  /** Protocols for ALPN, the preferred ones first. */
  readonly alpn: readonly string[];
  /** Whether the client is asked for a certificate, and refused without one. */
  readonly requestsCert: boolean;
  readonly requiresCert: boolean;
  /** A DER response to staple, for a client that asks for one. */
  readonly ocsp: Buffer | null;
}

/** The result of a handshake. */
export interface HandshakeFacts {
  /** TLSv1.3 */
  readonly version: string;
  /** OpenSSL's name. */
  readonly cipher: string;
  readonly resumed: boolean;
  readonly alpn: string | null;
  /** DER of the client's certificate; null without one. */
  readonly clientCert: Uint8Array | null;
  /** Why it cannot be trusted, as OpenSSL's code; null when it can, or without one. */
  readonly clientCertError: string | null;
}

export interface HandshakeUser {
  secured(facts: HandshakeFacts): void;
  /** The handshake, or the connection later, is broken; alerts have been sent. The wire is still to be destroyed. */
  tlsFailed(error: Error): void;
}

export interface SecurableWire extends ClientWire {
  /** Begins the handshake with what was read in clear; call once, while nothing that was written is on its way. */
  secure(setup: TlsSetup, clear: Buffer, user: HandshakeUser): void;
}

/** Names with their lengths in front (RFC 7301). */
export function alpnBytes(names: readonly string[]): Buffer {
  return Buffer.concat(
    names.map((name) => Buffer.from(`${String.fromCharCode(name.length)}${name}`, 'latin1')),
  );
}
