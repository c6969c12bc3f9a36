// The report of the last panic, until it is cleared.

export interface Panic {
  /** Epoch seconds. */
  at: number;
  text: string;
}

export class PanicStore {
  last: Panic | null = null;

  record(text: string, at = Date.now() / 1000): void {
    this.last = { at, text };
  }

  clear(): boolean {
    const had = this.last !== null;
    this.last = null;
    return had;
  }
}
