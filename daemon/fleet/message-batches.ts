// Messages of a reader in batches: what comes in one turn, and while the batch before is taken. A reader that comes too far
// ahead has to wait.

import type { BusMessage } from './bus.ts';

/** Messages given at once, and kept ahead (chosen). */
const BATCH = 200;
export const AHEAD = 1000;

export class Batches {
  private readonly take: (batch: readonly BusMessage[]) => Promise<void>;
  private readonly isOver: () => boolean;
  private readonly failed: (why: string) => void;
  private next: BusMessage[] = [];
  private scheduled = false;
  private taking: Promise<void> | null = null;

  constructor(
    take: (batch: readonly BusMessage[]) => Promise<void>,
    isOver: () => boolean,
    failed: (why: string) => void,
  ) {
    this.take = take;
    this.isOver = isOver;
    this.failed = failed;
  }

  /** Resolves when more may come. */
  async add(message: BusMessage): Promise<void> {
    this.next.push(message);
    if (this.taking === null && !this.scheduled) {
      this.scheduled = true;
      setImmediate(() => {
        this.scheduled = false;
        this.go();
      });
    }
    while (this.next.length >= AHEAD && this.taking !== null) await this.taking;
  }

  /** Resolves when no batch is being taken any more. */
  async idle(): Promise<void> {
    while (this.taking !== null) await this.taking;
  }

  private go(): void {
    if (this.taking !== null || this.next.length === 0 || this.isOver()) return;
    const batch = this.next.splice(0, BATCH);
    this.taking = this.take(batch)
      .catch((cause: Error) => this.failed(cause.message))
      .then(() => {
        this.taking = null;
        this.go();
      });
  }
}
