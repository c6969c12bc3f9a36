// Sends the request of one exchange to an origin: the head, then the body in its framing. It knows the socket and the
// account, but no states: the connection decides whether anything may be sent.

import type { Socket } from 'node:net';
import type { Room } from '../flow/flow.ts';
import { buffersOf, type Piece } from '../flow/piece.ts';
import type { BodyFraming } from '../http1/framing.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import { writeAtOnce } from '../runtime-handles.ts';
import { OutgoingBody } from './body-frame.ts';
import type { ExchangeAccount } from './exchange-account.ts';
import type { PiecePacer } from './piece-pacer.ts';

export class OriginWriter {
  private readonly socket: Socket;
  private readonly account: ExchangeAccount;
  private readonly pacer: PiecePacer;
  private readonly body = new OutgoingBody();
  /** Whether the kernel has taken the last head. */
  private gone = false;
  /** A head held until the kernel has taken it. */
  private held: Piece | null = null;
  private readonly written: (error?: Error | null) => void;

  /** @param broken called when a head could not be written */
  constructor(socket: Socket, account: ExchangeAccount, pacer: PiecePacer, broken: (error: Error) => void) {
    this.socket = socket;
    this.account = account;
    this.pacer = pacer;
    this.written = (error) => {
      this.gone = true;
      this.held?.release();
      this.held = null;
      if (error) broken(error);
    };
  }

  /** Announces a head and the framing of the body after it. */
  announce(length: number, body: BodyFraming): void {
    this.body.start(body);
    this.account.sentHead(length);
  }

  /** Sends the announced head. */
  head(head: Piece): void {
    const { socket } = this;
    const bytes = buffersOf(head)[0] as Buffer;
    // Directly to the socket's own write: the queue in front of it, empty here, costs a tick a request. With a body the
    // queue is used, because it reports when the origin is slow.
    this.gone = false;
    if (!this.body.complete || socket.writableLength > 0) {
      head.hold();
      socket.write(bytes, () => head.release());
      return;
    }
    writeAtOnce(socket, bytes, this.written);
    if (this.gone) return;
    head.hold();
    this.held = head;
  }

  /** Sends body bytes; after `wait` the caller should wait for 'drain'. */
  write(bytes: LentBytes): Room {
    return this.send(this.body.frame(bytes, 0, bytes.length)) ? 'more' : 'wait';
  }

  /** Ends the body; false when it is shorter than announced. */
  finish(): boolean {
    const last = this.body.finish();
    if (last === null) return false;
    if (last.length > 0) this.send(last);
    return true;
  }

  private send(framed: Buffer): boolean {
    this.account.sentBody(framed.length);
    return this.pacer.write(this.socket, framed);
  }

  /** All of the body was passed on. */
  get complete(): boolean {
    return this.body.complete;
  }
}
