// Accepts client connections on one listener and makes sessions of them.
//
// Reads go into one buffer that all sessions of the worker share, through the socket's `onread` option: node gives that
// option only to sockets that are made with it. Therefore the listener's handle gives its connections to us in the place
// of node's server, which would make a socket of its own for each. That saves a fifth of a hit's cost (an allocation and a
// stream event a read) and a third of a connection's; where the handle is not to be had, the plain 'data' event serves.

import { createServer, type Server, Socket, type SocketConstructorOpts } from 'node:net';
import { requestMachine } from '../request/request-machine.ts';
import type { Core } from '../transaction/core.ts';
import type { DescriptorGuard } from './descriptor-guard.ts';
import type { Endpoint } from './endpoint.ts';
import type { Handover } from './handover.ts';
import { PeerReader, wantsPeers } from './peer-credentials.ts';
import { Session, type SessionOwner } from './session.ts';

/** A connection below node's sockets. */
interface Handle {
  readonly fd?: number;
  setNoDelay?(on: boolean): void;
  close(): void;
}

/** A listener below node's server. `status` is 0 or an error of the system. */
interface ListenHandle {
  onconnection?: (status: number, connection: Handle | undefined) => void;
}

/** Seconds until the first keep-alive probe that are as good as none, and cost no system call. */
const KEEPALIVE_OFF = 7200;

export interface AcceptorHost extends SessionOwner {
  readonly descriptors: DescriptorGuard;
  /** Null with one thread. */
  readonly handover: Handover | null;
  sessionOpened(session: Session): void;
}

export class Acceptor {
  readonly server: Server;
  private readonly core: Core;
  private readonly host: AcceptorHost;
  private readonly endpoint: Endpoint;
  private readonly readBuffer: Buffer;
  private readonly peers = new PeerReader();
  private readonly index: number;

  /** @param index of its listener */
  constructor(core: Core, host: AcceptorHost, endpoint: Endpoint, readBuffer: Buffer, index = 0) {
    this.index = index;
    this.core = core;
    this.host = host;
    this.endpoint = endpoint;
    this.readBuffer = readBuffer;
    this.server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true });
    this.server.on('connection', (accepted) => this.plain(accepted));
    this.server.on('listening', () => {
      const { _handle } = this.server as unknown as { _handle?: ListenHandle | null };
      if (_handle?.onconnection === undefined) return;
      _handle.onconnection = (status, connection) => {
        if (status !== 0 || connection === undefined) core.stats.sess_fail++;
        else if (host.handover?.giveAway(this.index, connection) !== true) this.accept(connection);
      };
    });
    this.server.on('error', () => {
      core.stats.sess_fail++;
    });
  }

  /** Serves a connection that this listener or another thread has accepted. */
  accept(taken: Handle): void {
    if (this.host.descriptors.turnsAway(taken.fd)) {
      taken.close();
      return;
    }
    taken.setNoDelay?.(true);
    const { readBuffer } = this;
    // The callback's session exists before the first read: reading starts at resume().
    let session: Session | null = null;
    const options = {
      handle: taken,
      allowHalfOpen: true,
      // Left out, the runtime reads at once.
      manualStart: this.endpoint.isPath,
      onread: {
        buffer: readBuffer,
        callback: (length: number): boolean => {
          const goesOn = (session as Session).receive(readBuffer, 0, length);
          this.core.stepChecks?.turnOver(readBuffer, length);
          return goesOn;
        },
      },
    };
    const socket = new Socket(options as unknown as SocketConstructorOpts);
    session = this.open(socket);
    this.startReading(session);
  }

  private plain(socket: Socket): void {
    const session = this.open(socket);
    socket.on('data', (bytes: Buffer) => {
      session.receive(bytes, 0, bytes.length);
    });
    this.startReading(session);
  }

  /** At once, unless the program wants to know first who is at the other end. */
  private startReading(session: Session): void {
    const { socket } = session;
    if (!this.endpoint.isPath || !wantsPeers(this.core)) {
      socket.resume();
      return;
    }
    void this.peers.read(socket).then((peer) => {
      session.peer = peer;
      if (!socket.destroyed) socket.resume();
    });
  }

  private open(socket: Socket): Session {
    const { tcp_keepalive_time } = this.core.params;
    if (tcp_keepalive_time < KEEPALIVE_OFF && !this.endpoint.isPath) {
      socket.setKeepAlive(true, tcp_keepalive_time * 1000);
    }
    const session = new Session(this.core, this.host, socket, this.endpoint, requestMachine);
    socket.on('end', () => session.receivedEnd());
    socket.on('drain', () => session.socketDrained());
    socket.on('error', () => undefined);
    socket.on('close', () => session.lost());
    this.host.sessionOpened(session);
    return session;
  }
}
