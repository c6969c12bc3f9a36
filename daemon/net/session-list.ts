// The open connections of a worker. No Set: at each growth and after some number of deletions V8 makes a Set a new table, to
// which the old one points. Once an old table lies where only a full collection looks, all that the following ones hold
// is taken for living, and with many short connections each small collection copied the garbage of all that had been
// open at the last (a tenth of what such a connection costs).

/** Keeps its place in the list. */
export interface Listed {
  place: number;
}

export class SessionList<T extends Listed> {
  private readonly list: T[] = [];

  get count(): number {
    return this.list.length;
  }

  add(session: T): void {
    session.place = this.list.length;
    this.list.push(session);
  }

  /** Only one that is in the list. */
  remove(session: T): void {
    const last = this.list.pop() as T;
    if (last === session) return;
    this.list[session.place] = last;
    last.place = session.place;
  }

  /** Each that was there and still is when its turn comes; the callback may add and remove. */
  each(call: (session: T) => void): void {
    // From the end: what takes the place of one that is removed has had its turn.
    for (let i = this.list.length - 1; i >= 0; i--) {
      const session = this.list[i];
      if (session !== undefined) call(session);
    }
  }
}
