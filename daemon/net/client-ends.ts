// A client's identity and listener: the addresses of its connection, those that a PROXY preamble gave in their
// place, the limits a program may change, and the connection's log with the records that every request of it begins
// with.

import { Tag } from '../../protocol/tables/tags.ts';
import type { ClientTls, PeerCredentials } from '../contract/context.ts';
import { flat } from '../http1/latin1.ts';
import { constantRecord, type PreparedRecords, type TxLog } from '../log/tx-log.ts';
import type { Core } from '../transaction/core.ts';
import type { ClientWire } from './client-wire.ts';
import type { Endpoint } from './endpoint.ts';
import type { ProxyAddress } from './proxy-protocol.ts';

/** An IPv4 client of a listener on `::` has its own address, not the mapped one, so that acls know it. */
function plainAddress(address: string | undefined): string {
  if (address === undefined) return '0.0.0.0';
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

function protocolOf({ proxy, tls }: Endpoint): string {
  if (tls) return proxy ? 'TLS+PROXY' : 'TLS';
  return proxy ? 'PROXY' : 'HTTP/1';
}

export abstract class ClientEnds {
  readonly core: Core;
  protected readonly wire: ClientWire;
  readonly endpoint: Endpoint;
  readonly vxid: number;
  readonly log: TxLog;
  readonly tOpen: number;
  readonly remoteIp: string;
  readonly remotePort: number;
  readonly localIp: string;
  readonly localPort: number;
  readonly endpointName: string;
  readonly endpointSocket: string;
  clientIp: string;
  clientPort: number;
  serverIp: string;
  serverPort: number;
  timeoutIdle: number;
  timeoutLinger: number;
  idleSendTimeout: number;
  sendTimeout: number;
  /** Texts that every request of the session logs or sends. */
  readonly beginRecord: PreparedRecords;
  startRecord: PreparedRecords;
  forwardedLine: string;
  forwardedRecord: PreparedRecords;
  proxyAttributes: ReadonlyMap<number, Uint8Array> | null = null;
  tls: ClientTls | null = null;
  /** The process at the other end of a Unix socket, where a program asks. */
  peer: PeerCredentials | null = null;

  constructor(core: Core, wire: ClientWire, endpoint: Endpoint) {
    this.core = core;
    this.wire = wire;
    this.endpoint = endpoint;
    this.endpointName = endpoint.name;
    this.endpointSocket = endpoint.socketText;
    this.vxid = core.newVxid();
    this.log = core.newLog();
    this.tOpen = core.clock.now();
    const { remote, local } = wire;
    this.remoteIp = plainAddress(remote?.address);
    this.remotePort = remote?.port ?? 0;
    this.localIp = plainAddress(local?.address);
    this.localPort = local?.port ?? 0;
    this.clientIp = this.remoteIp;
    this.clientPort = this.remotePort;
    this.serverIp = this.localIp;
    this.serverPort = this.localPort;
    this.beginRecord = constantRecord(Tag.Begin, `req ${this.vxid} rxreq`);
    this.startRecord = this.startOf(this.clientIp, this.clientPort);
    this.forwardedLine = flat(`X-Forwarded-For: ${this.clientIp}`);
    this.forwardedRecord = constantRecord(Tag.ReqHeader, this.forwardedLine);
    this.timeoutIdle = core.params.timeout_idle;
    this.timeoutLinger = core.params.timeout_linger;
    this.idleSendTimeout = core.params.idle_send_timeout;
    this.sendTimeout = core.params.send_timeout;
    this.log.begin(this.vxid, 'c');
    this.log.put(Tag.Begin, `sess 0 ${protocolOf(endpoint)}`);
    this.log.put(
      Tag.SessOpen,
      `${this.remoteIp} ${this.remotePort} ${endpoint.name} ${this.localIp} ${this.localPort} ${this.tOpen.toFixed(6)} ${wire.fd}`,
    );
    core.stats.sess_conn++;
    core.stats.s_sess++;
  }

  private startOf(address: string, port: number): PreparedRecords {
    const { core, endpoint } = this;
    const scheme = core.params.log_scheme !== 1 ? '' : endpoint.tls ? ' https' : ' http';
    return constantRecord(Tag.ReqStart, `${address} ${port} ${endpoint.name}${scheme}`);
  }

  peerCredentials(): PeerCredentials | null {
    return this.peer;
  }

  /** Other ends than those of the connection: what the program and the log call client and server. */
  setAddresses(client: ProxyAddress, server: ProxyAddress): void {
    this.clientIp = client.ip;
    this.clientPort = client.port;
    this.serverIp = server.ip;
    this.serverPort = server.port;
    this.startRecord = this.startOf(client.text, client.port);
    this.forwardedLine = flat(`X-Forwarded-For: ${client.text}`);
    this.forwardedRecord = constantRecord(Tag.ReqHeader, this.forwardedLine);
  }
}
