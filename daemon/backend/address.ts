// The address of a backend, and its forms in text: as a key of pools, and as the ends of a connection in the log.

import type { Socket } from 'node:net';
import { Tag } from '../../protocol/tables/tags.ts';
import { constantRecord, type PreparedRecords } from '../log/tx-log.ts';
import { socketDescriptor } from '../system-error.ts';

/** An address and port, or a Unix socket's path. */
export type OriginAddress =
  | { readonly kind: 'tcp'; readonly address: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** Key of state that all backends at this address share. */
export function addressKey(at: OriginAddress): string {
  return at.kind === 'tcp' ? `${at.address}|${at.port}` : at.path;
}

/** 4, 6 or U: the address family as a bit of a probe's window. */
export function addressFamily(at: OriginAddress): '4' | '6' | 'U' {
  if (at.kind === 'unix') return 'U';
  return at.address.includes(':') ? '6' : '4';
}

/** Both ends of a connection in the format of BackendOpen: remote address and port, local address and port. */
export class ConnectionEnds {
  /** Descriptor number; 0 when unknown. */
  readonly fd: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  private kept: KeptRecords | null = null;

  constructor(socket: Socket) {
    this.fd = descriptor(socket);
    // A Unix socket has no addresses; the log's columns are filled in.
    this.remoteAddress = socket.remoteAddress ?? '0.0.0.0';
    this.remotePort = socket.remotePort ?? 0;
    this.localAddress = socket.localAddress ?? '0.0.0.0';
    this.localPort = socket.localPort ?? 0;
  }

  /** Prepared records for this backend; backends with the same address share connections. */
  recordsFor(backend: string): KeptRecords {
    if (this.kept?.backend !== backend) this.kept = new KeptRecords(this, backend);
    return this.kept;
  }

  /** The text of BackendStart. */
  get startText(): string {
    return `${this.remoteAddress} ${this.remotePort}`;
  }

  /** The text of BackendOpen. */
  openText(backend: string, reused: boolean): string {
    return `${this.fd} ${backend} ${this.remoteAddress} ${this.remotePort} ${this.localAddress} ${this.localPort} ${reused ? 'reuse' : 'connect'}`;
  }
}

/** BackendOpen and BackendClose of an exchange on a reused connection that is kept: always the same. */
class KeptRecords {
  readonly backend: string;
  readonly open: PreparedRecords;
  readonly close: PreparedRecords;

  constructor(ends: ConnectionEnds, backend: string) {
    this.backend = backend;
    this.open = constantRecord(Tag.BackendOpen, ends.openText(backend, true));
    this.close = constantRecord(Tag.BackendClose, `${ends.fd} ${backend} recycle`);
  }
}

/** The handle's descriptor is not in the published interface, and absent on some platforms. */
function descriptor(socket: Socket): number {
  return Math.max(0, socketDescriptor(socket));
}
