// Shares the turns of the event loop among bodies: a turn has a budget of bytes, and those whose bodies have more to move
// take a slice each, one after another. Copying a large body for each of some hundred clients, or from as many origins, in
// one turn would hold up every small answer until the last of them is done. What is sent and what is read have a budget each.

/** Moves a slice when its turn comes; it may have ended by then. */
export interface InTurn {
  turn(): void;
}

/** Bytes that go to the kernel, or come from it, in a turn: measured as about half a millisecond of copying, two while the kernel finds
 * new memory for its buffers. */
const A_TURN = 1024 * 1024;
/** Bytes that a slice counts for at the least: small ones cost what is done for each (some ten microseconds). */
const A_SEND = 8 * 1024;

export class ByteTurns {
  private readonly defer: (run: () => void) => void;
  private readonly queue: InTurn[] = [];
  private left = A_TURN;
  private scheduled = false;
  private readonly next: () => void;

  /** @param defer runs something in the next turn of the event loop */
  constructor(defer: (run: () => void) => void) {
    this.defer = defer;
    this.next = () => this.serve();
  }

  /** Whether `one` may move a slice at once; else its turn is called later. */
  enter(one: InTurn): boolean {
    if (this.left > 0 && this.queue.length === 0) return true;
    this.queue.push(one);
    this.schedule();
    return false;
  }

  /** So many bytes have been moved. */
  spent(bytes: number): void {
    this.left -= Math.max(bytes, A_SEND);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.defer(this.next);
  }

  private serve(): void {
    const { queue } = this;
    this.scheduled = false;
    this.left = A_TURN;
    let served = 0;
    // One that has more to move has entered again by then, at the end.
    while (this.left > 0 && served < queue.length) (queue[served++] as InTurn).turn();
    queue.splice(0, served);
    if (queue.length > 0) this.schedule();
  }
}
