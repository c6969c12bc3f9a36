// A TLS connection to an origin until its handshake is complete and its certificate accepted; failures are values. Whoever
// starts it sets the time limit.
//
// Special case: bytes in front of TLS (a PROXY header, a preamble) need a socket of their own below it. Its bytes are then
// copied once more, because the runtime reads into a shared buffer only through a socket that it has made whole.

import type { X509Certificate } from 'node:crypto';
import { connect as connectSocket, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { endedByNotice } from '../runtime-handles.ts';
import { type SystemError, systemError, TIMED_OUT } from '../system-error.ts';
import { addressKey, type OriginAddress } from './address.ts';
import type { ReadBuffer, SocketReader } from './exchange-roles.ts';
import { OriginTls } from './origin-tls.ts';
import type { KeptSession, TlsClient } from './tls-client.ts';
import { CUT, HANDSHAKE_TIMED_OUT, tlsError } from './tls-failures.ts';

/** Called back once, in a later turn. */
export interface HandshakeUser {
  /** The socket is the user's from now on. */
  secured(socket: TLSSocket, tls: OriginTls): void;
  failed(error: SystemError): void;
}

/** The bytes in front of TLS, from the local end of the connection. */
export type TlsLead = (local: { address: string; port: number } | null) => Buffer;

/** How a backend is spoken to over TLS. */
export interface SecureWay {
  readonly client: TlsClient;
  /** Null if nothing goes in front of TLS. */
  readonly lead: TlsLead | null;
}

export class Handshake {
  private readonly at: OriginAddress;
  private readonly client: TlsClient;
  private readonly user: HandshakeUser;
  private readonly offered: KeptSession | null;
  private socket: Socket;
  /** Whether the connection below is made. */
  private isConnected = false;
  private over = false;

  /** @param read gets the bytes of the connection */
  constructor(
    at: OriginAddress,
    way: SecureWay,
    buffer: ReadBuffer,
    read: SocketReader,
    user: HandshakeUser,
  ) {
    if (at.kind !== 'tcp') throw new Error('TLS to a Unix socket, which the compiler refuses');
    this.at = at;
    this.client = way.client;
    this.user = user;
    this.offered = way.client.session(addressKey(at));
    // A literal address needs no race of address families; only the user knows whether an end is an error.
    const target = { host: at.address, port: at.port, allowHalfOpen: true, autoSelectFamily: false };
    if (way.lead === null) {
      const onread = {
        buffer: buffer.bytes,
        callback: (length: number): boolean => {
          const more = read(buffer.bytes, 0, length);
          buffer.turnOver(length);
          return more;
        },
      };
      this.socket = this.begin({ ...target, onread } as ConnectionOptions);
      return;
    }
    const { lead } = way;
    const below = connectSocket({ ...target, noDelay: true });
    this.socket = below;
    below.on('error', (error) => this.failed(systemError(error)));
    below.once('connect', () => {
      const { localAddress: address, localPort: port } = below;
      below.write(lead(address === undefined || port === undefined ? null : { address, port }));
      this.isConnected = true;
      const socket = this.begin({ socket: below });
      socket.on('data', (bytes: Buffer) => {
        if (!read(bytes, 0, bytes.length)) socket.pause();
      });
      this.socket = socket;
    });
  }

  /** The error when the time is over, by the step that it was spent on. */
  get lateness(): SystemError {
    return this.isConnected ? HANDSHAKE_TIMED_OUT : TIMED_OUT;
  }

  /** Closes the connection, unless it was handed over. */
  cancel(): void {
    if (this.over) return;
    this.over = true;
    this.socket.destroy();
  }

  private begin(options: ConnectionOptions): TLSSocket {
    const socket = connectTls({ ...this.client.options(this.offered), ...options });
    socket.once('connect', () => {
      this.isConnected = true;
      socket.setNoDelay(true);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.failed(this.isConnected ? tlsError(error) : systemError(error));
    });
    socket.once('secureConnect', () => this.completed(socket));
    return socket;
  }

  private completed(socket: TLSSocket): void {
    if (this.over) return;
    const isResumed = socket.isSessionReused();
    const leaf = (isResumed ? this.offered?.leaf : socket.getPeerX509Certificate()) ?? null;
    const problem = this.client.verify(socket, leaf);
    if (problem !== null) {
      this.failed(problem);
      return;
    }
    this.over = true;
    this.keepSessions(socket, leaf);
    const tls = new OriginTls(socket, leaf, this.client.settings);
    noteEnd(socket, tls);
    this.user.secured(socket, tls);
  }

  /** With TLS 1.3 sessions come later, as often as the origin likes. */
  private keepSessions(socket: TLSSocket, leaf: X509Certificate | null): void {
    const address = addressKey(this.at);
    const keep = (session: Buffer): void => this.client.keep(address, session, leaf);
    const session = socket.getProtocol() === 'TLSv1.3' ? undefined : socket.getSession();
    if (session === undefined) socket.on('session', keep);
    else keep(session);
  }

  private failed(error: SystemError): void {
    if (this.over) return;
    this.client.forget(addressKey(this.at));
    this.cancel();
    this.user.failed(error);
  }
}

/** Notes how the input ends at the moment at which the runtime reports it. */
function noteEnd(socket: TLSSocket, tls: OriginTls): void {
  const { push } = socket;
  socket.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk === null && endedByNotice(socket) === false) tls.endError = CUT;
    return push.call(socket, chunk, encoding);
  };
}
