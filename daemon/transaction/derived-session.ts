// The connection of a client as one of several requests sees it that run over it beside each other: a fragment of a page, a
// stream of HTTP/2. Who is at the other end, and the limits that a program may change, are the connection's.

import type { ClientTls, Http2Limits, PeerCredentials, VclSession } from '../contract/context.ts';
import type { PreparedRecords, TxLog } from '../log/tx-log.ts';
import type { ClientSession } from './client-session.ts';

/** Of a connection, as far as requests over it ask for them. */
export type SharedSession = VclSession &
  Pick<
    ClientSession,
    'log' | 'beginRecord' | 'startRecord' | 'forwardedLine' | 'forwardedRecord' | 'isOpen' | 'isSending'
  >;

export abstract class DerivedSession implements SharedSession {
  protected readonly client: SharedSession;

  constructor(client: SharedSession) {
    this.client = client;
  }

  get isSending(): boolean {
    return this.client.isSending;
  }

  get log(): TxLog {
    return this.client.log;
  }

  get beginRecord(): PreparedRecords {
    return this.client.beginRecord;
  }

  get startRecord(): PreparedRecords {
    return this.client.startRecord;
  }

  get forwardedLine(): string {
    return this.client.forwardedLine;
  }

  get forwardedRecord(): PreparedRecords {
    return this.client.forwardedRecord;
  }

  get isOpen(): boolean {
    return this.client.isOpen;
  }

  get remoteIp(): string {
    return this.client.remoteIp;
  }

  get remotePort(): number {
    return this.client.remotePort;
  }

  get localIp(): string {
    return this.client.localIp;
  }

  get localPort(): number {
    return this.client.localPort;
  }

  get clientIp(): string {
    return this.client.clientIp;
  }

  get clientPort(): number {
    return this.client.clientPort;
  }

  get serverIp(): string {
    return this.client.serverIp;
  }

  get serverPort(): number {
    return this.client.serverPort;
  }

  get endpointName(): string {
    return this.client.endpointName;
  }

  get endpointSocket(): string {
    return this.client.endpointSocket;
  }

  get vxid(): number {
    return this.client.vxid;
  }

  get proxyAttributes(): ReadonlyMap<number, Uint8Array> | null {
    return this.client.proxyAttributes;
  }

  get tls(): ClientTls | null {
    return this.client.tls;
  }

  get http2(): Http2Limits | null {
    return this.client.http2;
  }

  get timeoutIdle(): number {
    return this.client.timeoutIdle;
  }

  set timeoutIdle(seconds: number) {
    this.client.timeoutIdle = seconds;
  }

  get timeoutLinger(): number {
    return this.client.timeoutLinger;
  }

  set timeoutLinger(seconds: number) {
    this.client.timeoutLinger = seconds;
  }

  get idleSendTimeout(): number {
    return this.client.idleSendTimeout;
  }

  set idleSendTimeout(seconds: number) {
    this.client.idleSendTimeout = seconds;
  }

  get sendTimeout(): number {
    return this.client.sendTimeout;
  }

  set sendTimeout(seconds: number) {
    this.client.sendTimeout = seconds;
  }

  peerCredentials(): PeerCredentials | null {
    return this.client.peerCredentials();
  }
}
