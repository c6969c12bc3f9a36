// The connection as the request for a fragment sees it: that of its page, but nothing that becomes of the fragment closes
// it, and nothing is written to it but by the page.

import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import type { PeerCredentials } from '../contract/context.ts';
import type { PreparedRecords, TxLog } from '../log/tx-log.ts';
import type { ClientSession } from '../transaction/client-session.ts';
import type { RequestBody } from '../transaction/request-body.ts';

/** What the request has to say of its end. */
interface FragmentCalls {
  /** What it delivers cannot be whole. */
  cut(): void;
  /** It is over. */
  done(): void;
}

export class FragmentSession implements ClientSession {
  readonly tHead: number;
  closeAfter: CloseReason | null = null;
  body: RequestBody | null = null;
  readonly hasInput = false;
  readonly inputLength = 0;
  private readonly client: ClientSession;
  private readonly place: FragmentCalls;

  /** @param client that of the page. @param now epoch seconds */
  constructor(client: ClientSession, place: FragmentCalls, now: number) {
    this.client = client;
    this.place = place;
    this.tHead = now;
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

  // A fragment's request has no body, and its answer no head: there is nothing to write, read or wait for.

  writeOutput(): void {}

  writeOutputAnd(): boolean {
    return true;
  }

  writeParts(): boolean {
    return true;
  }

  write(): boolean {
    return true;
  }

  drained(): void {}

  taken(): void {}

  onceReleased(callback: () => void): void {
    this.client.onceReleased(callback);
  }

  pauseReading(): void {}

  resumeReading(): void {}

  bodyBegins(): void {}

  bodyWanted(): void {}

  bodySettled(): void {}

  startPipe(): void {}

  interruptPipe(): void {}

  pipeEnded(): void {}

  close(): void {}

  cut(): void {
    this.place.cut();
  }

  reset(): void {
    this.cut();
  }

  requestDone(): void {
    this.place.done();
  }
}
