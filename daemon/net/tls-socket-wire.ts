// A client's TLS connection over sockets, for runtimes that show no TLS handles. No OCSP response is stapled here: only a
// server of the runtime's own may do so.

import { TLSSocket } from 'node:tls';
import { clientCertError, onTlsFailure } from '../runtime-handles.ts';
import { systemError } from '../system-error.ts';
import { SocketWire, type WireUser } from './client-wire.ts';
import { alpnBytes, type HandshakeUser, type SecurableWire, type TlsSetup } from './tls-wire.ts';

export class TlsSocketWire extends SocketWire implements SecurableWire {
  private user: WireUser | null = null;

  override begin(user: WireUser): void {
    this.user = user;
    super.begin(user);
  }

  secure(setup: TlsSetup, clear: Buffer, user: HandshakeUser): void {
    const below = this.socket;
    below.removeAllListeners('data');
    below.removeAllListeners('end');
    below.removeAllListeners('close');
    below.pause();
    below.unshift(clear);
    const secured = new TLSSocket(below, {
      isServer: true,
      secureContext: setup.context,
      requestCert: setup.requestsCert,
      rejectUnauthorized: setup.requiresCert,
      ALPNProtocols: alpnBytes(setup.alpn),
      allowHalfOpen: true,
    } as ConstructorParameters<typeof TLSSocket>[1]);
    this.socket = secured;
    secured.on('secure', () => {
      const { raw } = secured.getPeerCertificate(false) as { raw?: Buffer };
      const error = raw === undefined ? null : clientCertError(secured);
      user.secured({
        version: secured.getProtocol() ?? '',
        cipher: secured.getCipher().name,
        resumed: secured.isSessionReused(),
        alpn: secured.alpnProtocol === false ? null : secured.alpnProtocol,
        clientCert: raw ?? null,
        clientCertError: error,
      });
    });
    onTlsFailure(secured, (error) => {
      this.error = systemError(error);
      // Errors of the connection below come here, too: the client has gone.
      if (/^ERR_/.test(this.error.code)) user.tlsFailed(error);
      secured.destroy();
    });
    if (this.user !== null) super.begin(this.user);
    secured.resume();
  }

  override finish(): void {
    this.socket.destroySoon();
  }

  /** The runtime cannot reset the connection below: the client sees an end without close_notify. */
  override reset(): void {
    this.socket.destroy();
  }
}
