// Parses a `tls_config` block and makes the TLS layer that it describes.

import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, createSecureContext, type SecureVersion, TLSSocket } from 'node:tls';
import type { Actor } from './actor.ts';
import { BUILTIN_PEM } from './builtin-certificate.ts';

export const VERSIONS: Readonly<Record<string, SecureVersion>> = {
  'tlsv1.0': 'TLSv1',
  'tlsv1.1': 'TLSv1.1',
  'tlsv1.2': 'TLSv1.2',
  'tlsv1.3': 'TLSv1.3',
};

export class TlsSettings {
  certificate: string | null = null;
  authorities: string | null = null;
  least: SecureVersion = 'TLSv1.2';
  greatest: SecureVersion = 'TLSv1.3';
  /** Of TLS 1.2 and before, and of TLS 1.3. */
  ciphers: string | null = null;
  suites: string | null = null;
  protocols: readonly string[] = [];
  serverName: string | null = null;
  /** Of a client: the server's certificate must be valid. Of a server: that of a client is asked for, and must be there. */
  verifies = false;
  asksForCertificate = false;
  /** The last handshake or connection failed. */
  hasFailed = false;
  /** In OpenSSL's words; null for none. */
  alert: string | null = null;

  #context(isServer: boolean): ReturnType<typeof createSecureContext> {
    const pem = this.certificate === null ? (isServer ? BUILTIN_PEM : null) : readFileSync(this.certificate);
    const ciphers = [this.suites, this.ciphers].filter((each) => each !== null).join(':');
    return createSecureContext({
      ...(pem === null ? {} : { cert: pem, key: pem }),
      ...(this.authorities === null ? {} : { ca: readFileSync(this.authorities) }),
      ...(ciphers === '' ? {} : { ciphers }),
      minVersion: this.least,
      maxVersion: this.greatest,
    });
  }

  /** The layer over a connection, and its handshake: null, or what went wrong. Throws for files that cannot be read. */
  start(
    actor: Actor,
    socket: Duplex,
    isServer: boolean,
  ): { secure: TLSSocket; done: Promise<string | null> } {
    const secureContext = this.#context(isServer);
    const protocols = this.protocols.length === 0 ? {} : { ALPNProtocols: [...this.protocols] };
    const secure = isServer
      ? new TLSSocket(socket as Socket, {
          isServer: true,
          secureContext,
          ...protocols,
          requestCert: this.asksForCertificate,
          rejectUnauthorized: this.verifies,
        })
      : connectTls({
          socket: socket as Socket,
          secureContext,
          ...protocols,
          ...(this.serverName === null ? {} : { servername: this.serverName }),
          rejectUnauthorized: this.verifies,
          checkServerIdentity: () => undefined,
        });
    const done = new Promise<string | null>((resolve) => {
      secure.once(isServer ? 'secure' : 'secureConnect', () => resolve(null));
      secure.once('error', (cause) => resolve(cause.message));
      secure.once('close', () => resolve('closed by the peer'));
    });
    secure.on('error', (cause: NodeJS.ErrnoException) => {
      this.hasFailed = true;
      // OpenSSL names the alert of the peer: ERR_SSL_TLSV1_ALERT_UNKNOWN_CA, ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE.
      this.alert = /_ALERT_(\w+)$/.exec(cause.code ?? '')?.[1]?.toLowerCase() ?? null;
      actor.log(3, `TLS: ${cause.message}`);
    });
    return { secure, done };
  }

  /** The value of tls.NAME; null if it has none. */
  variable(name: string, socket: Duplex | null): string | null {
    if (name === 'failed') return String(this.hasFailed);
    if (name === 'alert') return this.alert;
    if (!(socket instanceof TLSSocket)) return null;
    const certificate = /^cert(\d*)\.(\w+)$/.exec(name);
    if (certificate !== null)
      return certificateField(socket, Number(certificate[1] || 0), certificate[2] as string);
    switch (name) {
      case 'version':
        return socket.getProtocol();
      case 'cipher':
        return socket.getCipher()?.name ?? null;
      case 'servername':
        return (socket as { servername?: string | false }).servername || this.serverName;
      case 'alpn':
        return socket.alpnProtocol || null;
      case 'sess_reused':
        return String(socket.isSessionReused());
      default:
        return null;
    }
  }
}

function certificateField(socket: TLSSocket, index: number, field: string): string | null {
  let certificate = socket.getPeerCertificate(true);
  for (let i = 0; i < index; i++) {
    if (certificate.issuerCertificate === certificate) return null;
    certificate = certificate.issuerCertificate;
  }
  if (certificate?.subject === undefined) return null;
  switch (field) {
    case 'subject':
      return String(certificate.subject.CN);
    case 'issuer':
      return String(certificate.issuer.CN);
    case 'subject_alt_names':
      return (certificate.subjectaltname ?? '').replaceAll('IP Address:', 'IP:');
    default:
      return null;
  }
}
