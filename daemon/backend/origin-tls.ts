// The facts of an origin's TLS connection, as the log and programs have them.

import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { PeerTls } from '../contract/peer-tls.ts';
import type { BackendTls } from '../contract/program.ts';
import { NO_ERROR, type SystemError } from '../system-error.ts';
import { shown } from './tls-failures.ts';

export class OriginTls implements PeerTls {
  readonly protocol: string;
  readonly cipher: string;
  readonly alpn: string | null;
  readonly serverName: string | null;
  readonly isResumed: boolean;
  readonly isVerified: boolean;
  readonly subject: string;
  readonly certificate: X509Certificate | null;
  /** How the origin has ended its side, once it has: without close_notify it may have been cut off. */
  endError: SystemError = NO_ERROR;

  /** @param socket after a handshake that was accepted under these settings */
  constructor(socket: TLSSocket, certificate: X509Certificate | null, settings: BackendTls) {
    this.protocol = socket.getProtocol() ?? '';
    this.cipher = socket.getCipher()?.name ?? '';
    this.alpn = typeof socket.alpnProtocol === 'string' ? socket.alpnProtocol : null;
    this.serverName = settings.sni ? settings.name : null;
    this.isResumed = socket.isSessionReused();
    this.isVerified = settings.verifyPeer && settings.verifyHost;
    this.subject = certificate === null ? '' : shown(certificate.subject);
    this.certificate = certificate;
  }

  /** The text of a BackendSSL record: version, cipher, full or resumed, verified or not, ALPN, subject. */
  recordText(backend: string): string {
    const { protocol, cipher, isResumed, isVerified, alpn, subject } = this;
    const words = [isResumed ? 'resumed' : 'full', isVerified ? 'verified' : 'unverified', alpn ?? '-'];
    return `${backend} ${protocol} ${cipher} ${words.join(' ')} ${subject === '' ? '-' : subject}`;
  }
}
