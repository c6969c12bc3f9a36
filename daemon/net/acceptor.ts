// Accepts client connections on one listener and makes sessions of them.
//
// Reads go into one buffer that all sessions of the worker share, through the socket's `onread` option: node
// gives that option only to sockets that are made with it, so an accepted connection is taken over by a new
// socket on the same handle before anything is read from it. That saves a fifth of a hit's cost (an allocation
// and a stream event a read); where the handle is not to be had, the plain 'data' event serves.

import { createServer, type Server, Socket, type SocketConstructorOpts } from 'node:net';
import { requestMachine } from '../request/request-machine.ts';
import type { Core } from '../transaction/core.ts';
import type { DescriptorGuard } from './descriptor-guard.ts';
import type { Endpoint } from './endpoint.ts';
import { PeerReader, wantsPeers } from './peer-credentials.ts';
import { Session, type SessionOwner } from './session.ts';

type Handle = object;

/** Seconds until the first keep-alive probe that are as good as none, and cost no system call. */
const KEEPALIVE_OFF = 7200;

export interface AcceptorHost extends SessionOwner {
  readonly descriptors: DescriptorGuard;
  sessionOpened(session: Session): void;
}

export class Acceptor {
  readonly server: Server;
  private readonly core: Core;
  private readonly host: AcceptorHost;
  private readonly endpoint: Endpoint;
  private readonly readBuffer: Buffer;
  private readonly peers = new PeerReader();

  constructor(core: Core, host: AcceptorHost, endpoint: Endpoint, readBuffer: Buffer) {
    this.core = core;
    this.host = host;
    this.endpoint = endpoint;
    this.readBuffer = readBuffer;
    this.server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true });
    this.server.on('connection', (accepted) => this.accept(accepted));
    this.server.on('error', () => {
      core.stats.sess_fail++;
    });
  }

  private accept(accepted: Socket): void {
    const { _handle } = accepted as unknown as { _handle?: { fd?: number } | null };
    if (this.host.descriptors.turnsAway(_handle?.fd)) {
      accepted.destroy();
      return;
    }
    const taken = takeHandle(accepted);
    if (taken === null) {
      this.plain(accepted);
      return;
    }
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

/** Detaches the handle from a socket that nothing was read from yet. */
function takeHandle(socket: Socket): Handle | null {
  const inner = socket as unknown as { _handle?: Handle | null };
  const handle = inner._handle ?? null;
  if (handle === null) return null;
  inner._handle = null;
  return handle;
}
