// Keeps the history of counters going, and answers for it: reads them once a second, from the first second of the manager to its last, and
// whether anybody looks or not. A history that cannot be kept is reported and does without.

import { CounterWatch, type Note } from '../stats/counter-watch.ts';
import { CountersHistory } from '../stats/counters-history.ts';
import type { CounterSnapshot } from '../stats/counters-reader.ts';
import { turns } from '../turns/turns.ts';
import { HistoryStreams } from './streams/history-stream.ts';

const SECOND_MS = 1000;

export class HistoryKeeper {
  readonly streams: HistoryStreams;
  private readonly history: CountersHistory;
  private readonly watch: CounterWatch;
  private readonly timer: NodeJS.Timeout;
  private isClosed = false;

  /** @param note events that the counters show
   * @param fault what went wrong with a reading */
  constructor(
    directory: string,
    read: () => Promise<CounterSnapshot>,
    warn: (text: string) => void,
    note: Note,
    fault: (cause: unknown) => void,
  ) {
    this.history = new CountersHistory(directory, warn);
    this.watch = new CounterWatch(note);
    this.streams = new HistoryStreams(this.history);
    try {
      this.history.open();
    } catch (cause) {
      warn(`No history of counters is kept: ${(cause as Error).message}`);
    }
    let isBusy = false;
    this.timer = setInterval(async () => {
      // Many counters on a busy machine may take more than a second.
      if (isBusy) return;
      isBusy = true;
      try {
        await this.sample(read);
      } catch (cause) {
        clearInterval(this.timer);
        fault(cause);
      } finally {
        isBusy = false;
      }
    }, SECOND_MS);
    this.timer.unref();
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    this.history.close();
  }

  private async sample(read: () => Promise<CounterSnapshot>): Promise<void> {
    const sample = await read();
    if (this.isClosed) return;
    const now = Date.now();
    await turns.through(this.history.take(now, sample), () => !this.isClosed);
    if (!this.isClosed) this.watch.take(now, sample);
  }
}
