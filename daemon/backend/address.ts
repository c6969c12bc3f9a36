// Where a backend listens, and how addresses are told: as a key of pools, and as the log shows a connection's ends.

import type { Socket } from 'node:net';

/** An address and port, or a Unix socket's path. */
export type OriginAddress =
  | { readonly kind: 'tcp'; readonly address: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** Key of what is shared by all backends at this address. */
export function addressKey(at: OriginAddress): string {
  return at.kind === 'tcp' ? `${at.address}|${at.port}` : at.path;
}

/** 4, 6 or U, as the window bits of a probe name the kind of address. */
export function addressFamily(at: OriginAddress): '4' | '6' | 'U' {
  if (at.kind === 'unix') return 'U';
  return at.address.includes(':') ? '6' : '4';
}

/** Both ends of a connection as BackendOpen has them: remote address and port, local address and port. */
export class ConnectionEnds {
  /** Descriptor number; 0 when it is not known. */
  readonly fd: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;

  constructor(socket: Socket) {
    this.fd = descriptor(socket);
    // A Unix socket has no addresses; the log's columns stay.
    this.remoteAddress = socket.remoteAddress ?? '0.0.0.0';
    this.remotePort = socket.remotePort ?? 0;
    this.localAddress = socket.localAddress ?? '0.0.0.0';
    this.localPort = socket.localPort ?? 0;
  }

  /** The record's text. */
  openText(backend: string, reused: boolean): string {
    return `${this.fd} ${backend} ${this.remoteAddress} ${this.remotePort} ${this.localAddress} ${this.localPort} ${reused ? 'reuse' : 'connect'}`;
  }
}

/** The handle's descriptor is not in the published interface, and absent on some platforms. */
function descriptor(socket: Socket): number {
  const handle = (socket as unknown as { _handle?: { fd?: number } | null })._handle;
  return handle?.fd ?? 0;
}
