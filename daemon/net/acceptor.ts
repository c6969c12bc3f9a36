// Accepts client connections on one listener and makes sessions of them.
//
// The listener's handle gives its connections to us in the place of node's server, and they stay handles: no socket is
// made of them (client-handle.ts). Reads go into one buffer that all sessions of the worker share. Where the runtime
// has no such handles, node's server accepts and makes sockets.

import { createServer, type Server } from 'node:net';
import { requestMachine } from '../request/request-machine.ts';
import {
  type HandleAddress,
  listenHandleOf,
  type RuntimeHandle,
  type RuntimeHandles,
  runtimeHandles,
} from '../runtime-handles.ts';
import type { Core } from '../transaction/core.ts';
import { HandleWires, type SharedReads } from './client-handle.ts';
import { type ClientWire, SocketWire, type WireEnd } from './client-wire.ts';
import type { DescriptorGuard } from './descriptor-guard.ts';
import type { Endpoint } from './endpoint.ts';
import type { Handover } from './handover.ts';
import { PeerReader, wantsPeers } from './peer-credentials.ts';
import { Session, type SessionOwner } from './session.ts';
import { TlsHandleWires } from './tls-handle.ts';
import { TlsSocketWire } from './tls-socket-wire.ts';

/** Seconds until the first keep-alive probe that are as good as none, and cost no system call. */
const KEEPALIVE_OFF = 7200;
/** Connections inherit the listener's TCP_NODELAY: one call less for each. Other systems may not do so. */
const INHERITS = process.platform === 'linux';

export interface AcceptorHost extends SessionOwner {
  readonly descriptors: DescriptorGuard;
  sessionOpened(session: Session): void;
}

interface WireMaker {
  of(handle: RuntimeHandle): ClientWire;
}

/** Null where the runtime has no handles for it. */
function wiresOf(runtime: RuntimeHandles, reads: SharedReads, tls: boolean): WireMaker | null {
  if (!tls) return new HandleWires(runtime, reads);
  return runtime.tls_wrap === null ? null : new TlsHandleWires(runtime, runtime.tls_wrap, reads);
}

/** The address that all connections of a listener have at this end; null where each may have another one. */
function boundTo(listener: RuntimeHandle): WireEnd | null {
  const name: HandleAddress = {};
  if (listener.getsockname === undefined || listener.getsockname(name) !== 0) return null;
  const { address = '', port = 0 } = name;
  return address === '' || address === '0.0.0.0' || address === '::' ? null : { address, port };
}

export class Acceptor {
  readonly server: Server;
  private readonly core: Core;
  private readonly host: AcceptorHost;
  private readonly endpoint: Endpoint;
  private readonly wires: WireMaker | null;
  private readonly peers = new PeerReader();
  private readonly index: number;
  private readonly handover: Handover | null;

  /**
   * @param index of its listener
   * @param handover gives connections to other threads; null with one
   * @param runtime null: over sockets
   */
  constructor(
    core: Core,
    host: AcceptorHost,
    endpoint: Endpoint,
    readBuffer: Buffer,
    index: number,
    handover: Handover | null,
    runtime = runtimeHandles(),
  ) {
    this.index = index;
    this.handover = handover;
    this.core = core;
    this.host = host;
    this.endpoint = endpoint;
    const turnOver = (length: number): void => core.stepChecks?.turnOver(readBuffer, length);
    this.wires = runtime === null ? null : wiresOf(runtime, { bytes: readBuffer, turnOver }, endpoint.tls);
    this.server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true });
    this.server.on('connection', (socket) =>
      this.open(endpoint.tls ? new TlsSocketWire(socket) : new SocketWire(socket)),
    );
    this.server.on('listening', () => this.takeOver());
    this.server.on('error', () => {
      core.stats.sess_fail++;
    });
  }

  /** Serves a connection that was accepted, here or elsewhere. */
  accept(handle: RuntimeHandle): void {
    const { wires } = this;
    if (wires === null) handle.close();
    else if (!this.turnsAway(handle)) {
      if (!INHERITS) handle.setNoDelay?.(true);
      this.open(wires.of(handle));
    }
  }

  private turnsAway(handle: RuntimeHandle): boolean {
    if (!this.host.descriptors.turnsAway(handle.fd)) return false;
    handle.close();
    return true;
  }

  /** Connections come to us in the place of node's server. */
  private takeOver(): void {
    const listener = listenHandleOf(this.server);
    if (this.wires === null || listener === null) return;
    if (INHERITS) listener.setNoDelay?.(true);
    if (this.wires instanceof HandleWires) this.wires.local = boundTo(listener);
    listener.onconnection = (status, connection) => {
      if (status !== 0 || connection === undefined) this.core.stats.sess_fail++;
      // The way to another thread would take one more descriptor.
      else if (this.handover !== null && this.turnsAway(connection)) return;
      else if (this.handover?.giveAway(this.index, connection) !== true) this.accept(connection);
    };
  }

  private open(wire: ClientWire): void {
    const { core, endpoint } = this;
    const { tcp_keepalive_time } = core.params;
    if (tcp_keepalive_time < KEEPALIVE_OFF && !endpoint.isPath) wire.keepAlive(tcp_keepalive_time);
    const session = new Session(core, this.host, wire, endpoint, requestMachine);
    wire.begin(session);
    this.host.sessionOpened(session);
    // At once, unless the program uses the peer's credentials, which are read first.
    if (!endpoint.isPath || !wantsPeers(core)) {
      wire.resume();
      return;
    }
    void this.peers.read(wire).then((peer) => {
      session.peer = peer;
      wire.resume();
    });
  }
}
