// Lets the pieces of many request bodies out a few a turn. Hundreds of slow uploads may all have sent a piece when the
// loop looks: writing one is most of what it costs, and everybody else in that turn would wait for all of them. So the
// first few go out at once, and the rest is held back in its socket's own queue, in order, for the next turns, between
// which the loop serves others.

import type { Socket } from 'node:net';

/** Pieces written in one turn (chosen: about a tenth of a millisecond). */
const A_TURN = 8;

export class PiecePacer {
  private left = A_TURN;
  private readonly held = new Set<Socket>();
  private scheduled = false;

  /** As the socket's own write(), now or in one of the next turns. */
  write(socket: Socket, bytes: Buffer): boolean {
    if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(this.nextTurn);
    }
    if (this.left > 0 && this.held.size === 0) this.left--;
    else if (!this.held.has(socket)) {
      this.held.add(socket);
      socket.cork();
    }
    return socket.write(bytes);
  }

  private readonly nextTurn = (): void => {
    this.left = A_TURN;
    for (const socket of this.held) {
      if (this.left-- === 0) break;
      this.held.delete(socket);
      socket.uncork();
    }
    this.scheduled = this.held.size > 0;
    if (this.scheduled) setImmediate(this.nextTurn);
    else this.left = A_TURN;
  };
}
