// The two directions of a pipe. Each side's end is passed on alone, so a half-closed exchange still finishes; each
// side is paused while the other does not take what it sends.

import type { Socket } from 'node:net';
import { endedByReset } from '../backend/peer-end.ts';
import type { PipeTap } from '../net/pipe-tap.ts';
import type { Session } from '../net/session.ts';

export interface PipeBytes {
  fromClient: number;
  toClient: number;
}

export class Pipe implements PipeTap {
  private readonly session: Session;
  private readonly origin: Socket;
  private readonly done: (bytes: PipeBytes) => void;
  private readonly timeout: number;
  private readonly bytes: PipeBytes = { fromClient: 0, toClient: 0 };
  private originDone = false;
  private over = false;

  constructor(session: Session, origin: Socket, timeout: number, done: (bytes: PipeBytes) => void) {
    this.session = session;
    this.origin = origin;
    this.timeout = timeout;
    this.done = done;
  }

  start(head: Buffer): void {
    const { origin, session } = this;
    origin.setTimeout(this.timeout * 1000, () => this.finish());
    origin.on('data', (bytes: Buffer) => {
      this.bytes.toClient += bytes.length;
      if (!session.write(bytes)) {
        origin.pause();
        session.socket.once('drain', () => origin.resume());
      }
    });
    origin.on('end', () => {
      // An origin that was told to close has nothing more to hear once it has answered.
      this.originDone = true;
      this.finish(endedByReset(origin));
    });
    origin.on('drain', () => session.resumeReading());
    origin.on('error', () => this.finish(true));
    origin.on('close', () => this.finish());
    origin.write(head);
    origin.resume();
    session.startPipe(this);
  }

  fromClient(bytes: Buffer): void {
    if (this.over || this.originDone) return;
    this.bytes.fromClient += bytes.length;
    if (!this.origin.write(bytes)) this.session.pauseReading();
  }

  clientEnded(): void {
    this.origin.end();
  }

  clientLost(): void {
    this.finish();
  }

  /** `broken`: the origin's answer did not come to its end, and the client shall see that. */
  private finish(broken = false): void {
    if (this.over) return;
    this.over = true;
    this.origin.destroy();
    if (broken) this.session.reset('TX_PIPE');
    this.done(this.bytes);
  }
}
