// The bytes that begin a backend's connections, ahead of the first request: the PROXY preamble that names the
// destination behind another backend (`.via`), the declared `.preamble`, and the preamble of `.proxy_header`, which is
// for one request. With TLS they go in front of the handshake; but where TLS is spoken to the backend of `.via`, all of
// them go inside.

import type { BackendDecl } from '../contract/program.ts';
import type { OriginAddress } from './address.ts';
import type { SecureWay } from './handshake.ts';
import type { ProbeWire } from './probe-wire.ts';
import { destinationHeader, type ProxyEnds, probeProxyHeader, proxyHeader } from './proxy-header.ts';
import type { TlsClient } from './tls-client.ts';

export class ConnectionLead {
  /** Bytes to write on a new connection, behind the handshake if there is one. */
  opening: Buffer | null = null;
  /** The end of the keys of pools: connections that begin alike may be exchanged. */
  key = '';
  private readonly decl: BackendDecl;
  private readonly tls: TlsClient | null;
  /** Whether the lead goes in front of a handshake. */
  private readonly isOutside: boolean;
  /** The same on all connections of the backend. */
  private fixed: Buffer | null = null;

  /** @param via the backend that connections go through; null for none */
  constructor(decl: BackendDecl, tls: TlsClient | null, via: BackendDecl | null) {
    this.decl = decl;
    this.tls = tls;
    this.isOutside = tls !== null && via?.tls === undefined;
    this.aim(undefined);
  }

  /** Names the destination, where connections go through another backend. */
  aim(destination: OriginAddress | undefined): void {
    const { decl, tls } = this;
    const parts: Buffer[] = [];
    if (decl.via !== undefined && destination?.kind === 'tcp')
      parts.push(destinationHeader(destination, authorityOf(decl)));
    if (decl.preamble !== undefined) parts.push(Buffer.from(decl.preamble, 'base64'));
    this.fixed = joined(parts);
    this.opening = this.isOutside ? null : this.fixed;
    const suffix = this.fixed === null ? '' : `|${this.fixed.toString('base64')}`;
    this.key = `${suffix}${tls === null ? '' : `|TLS ${tls.key}`}`;
  }

  /** The preamble of a request of this client; null unless it is declared, and where it goes in front of a handshake. */
  ofRequest(client: ProxyEnds | null): Buffer | null {
    return this.isOutside ? null : this.ofClient(client);
  }

  /** How a connection for a client speaks TLS; null without it. */
  secureWay(client: ProxyEnds | null): SecureWay | null {
    if (this.tls === null) return null;
    const parts = this.isOutside ? [this.fixed, this.ofClient(client)] : [];
    const lead = joined(parts.filter((part) => part !== null));
    return { client: this.tls, lead: lead === null ? null : () => lead };
  }

  /** How a probe's connection speaks TLS; null without it. */
  get secureProbe(): SecureWay | null {
    if (this.tls === null) return null;
    const hasLead = this.isOutside && (this.fixed !== null || this.decl.proxyHeader !== undefined);
    return { client: this.tls, lead: hasLead ? (local) => this.onProbe(local) as Buffer : null };
  }

  /** Bytes that a probe writes ahead of its request. */
  ofProbe(local: ProbeWire['local']): Buffer | null {
    return this.isOutside ? null : this.onProbe(local);
  }

  private onProbe(local: ProbeWire['local']): Buffer | null {
    const version = this.decl.proxyHeader;
    const parts = this.fixed === null ? [] : [this.fixed];
    if (version !== undefined) parts.push(probeProxyHeader(version, local));
    return joined(parts);
  }

  private ofClient(client: ProxyEnds | null): Buffer | null {
    const version = this.decl.proxyHeader;
    return version === undefined || client === null ? null : proxyHeader(version, client);
  }
}

function joined(parts: readonly Buffer[]): Buffer | null {
  return parts.length === 0 ? null : Buffer.concat(parts);
}

/** The authority of a backend, without its port; '' if none is sent. */
function authorityOf({ authority, hostHeader, host }: BackendDecl): string {
  return (authority ?? hostHeader ?? host ?? '').replace(/:.*/s, '');
}
