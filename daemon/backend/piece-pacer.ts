// Paces the pieces of many request bodies. Hundreds of slow uploads may all have a piece ready in one turn: writing
// them is most of their cost, and all other clients of that turn would wait for it. So the first few are written at
// once, and the rest stays corked in the sockets' own queues, in order, for the next turns, between which the loop
// serves others.

import type { Socket } from 'node:net';

/** Pieces written in one turn (chosen: about a tenth of a millisecond). */
const A_TURN = 8;

export class PiecePacer {
  private left = A_TURN;
  private readonly held = new Set<Socket>();
  private scheduled = false;

  /** Like the socket's own write(), now or in one of the next turns. */
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
