// The two directions of a pipe. Each side's end is passed on alone, so a half-closed exchange still finishes; each
// side is paused while the other does not take what it sends.

import type { OriginConnection } from '../backend/connection.ts';
import { keep } from '../http1/lent-bytes.ts';
import { behindEnd, socketDescriptor } from '../system-error.ts';
import type { ClientSession, PipeTap } from '../transaction/client-session.ts';

export interface PipeBytes {
  fromClient: number;
  toClient: number;
}

export class Pipe implements PipeTap {
  private readonly session: ClientSession;
  private readonly conn: OriginConnection;
  private readonly done: (bytes: PipeBytes, unheard: boolean) => void;
  private readonly timeout: number;
  private readonly bytes: PipeBytes = { fromClient: 0, toClient: 0 };
  private originDone = false;
  private over = false;

  /**
   * @param timeout seconds without any byte
   * @param done gets the bytes that passed, and whether it was the origin that left without having said anything
   */
  constructor(
    session: ClientSession,
    conn: OriginConnection,
    timeout: number,
    done: (bytes: PipeBytes, unheard: boolean) => void,
  ) {
    this.session = session;
    this.conn = conn;
    this.timeout = timeout;
    this.done = done;
  }

  start(head: Buffer): void {
    const origin = this.conn.socket;
    origin.setTimeout(this.timeout * 1000, () => this.finish());
    origin.on('end', () => this.originEnded(behindEnd(socketDescriptor(origin)).code !== ''));
    origin.on('drain', () => this.session.resumeReading());
    origin.on('error', () => this.originEnded(true));
    origin.on('close', () => this.finish());
    origin.write(head);
    this.session.startPipe(this);
    const early = this.conn.handOver((buf, start, end) => this.fromOrigin(keep(buf, start, end)));
    if (early === null) this.originEnded(false);
    else if (early.length === 0 || this.fromOrigin(early)) origin.resume();
  }

  fromClient(bytes: Buffer): void {
    if (this.over || this.originDone) return;
    this.bytes.fromClient += bytes.length;
    if (!this.conn.socket.write(bytes)) this.session.pauseReading();
  }

  clientEnded(): void {
    this.conn.socket.end();
  }

  clientLost(): void {
    this.finish();
  }

  private fromOrigin(bytes: Buffer): boolean {
    const { session, conn } = this;
    this.bytes.toClient += bytes.length;
    const more = session.write(bytes);
    if (!more) session.taken(() => conn.socket.resume());
    return more;
  }

  /** An origin that was told to close has nothing more to hear once it has answered. */
  private originEnded(reset: boolean): void {
    this.originDone = true;
    this.finish(reset);
  }

  /** `broken`: the origin's answer did not come to its end, and the client shall see that. */
  private finish(broken = false): void {
    if (this.over) return;
    this.over = true;
    this.conn.destroy();
    const { fromClient, toClient } = this.bytes;
    const unheard = this.originDone && toClient === 0 && fromClient === 0;
    if (broken && !unheard) this.session.reset('TX_PIPE');
    this.done(this.bytes, unheard);
  }
}
