// Reads the log backwards from the beginning of a subscription: a small run first, so that a screen is full at once,
// then larger ones as long as more is wanted. Groups of a run that end only now arrive with the live log. A run that is
// refused or fails is the last.

import { decodeLogFrame } from '../../protocol/log-frame.ts';
import type { LogSubscription, LogTransaction } from '../../protocol/messages.ts';
import type { Client, ClientSubscription } from './client.ts';
import type { EarlierRun } from './source.ts';

/** Bytes of log in the first run and in the largest (chosen): some hundred requests, and as much as the daemon reads
 * in a fraction of a second. */
const FIRST = 256 << 10;
const MOST = 64 << 20;
const GROWTH = 4;
/** Milliseconds between two runs (chosen): the last one is drawn first. */
const PAUSE_MS = 250;

export class EarlierLog {
  private readonly client: Client;
  private readonly sub: LogSubscription;
  private readonly begin: () => EarlierRun;
  private readonly live: (transactions: LogTransaction[]) => void;
  private readonly open = new Set<ClientSubscription>();
  private closed = false;
  private timer: NodeJS.Timeout | undefined;

  /** `live` gets groups that began earlier and end now. */
  constructor(
    client: Client,
    sub: LogSubscription,
    begin: () => EarlierRun,
    live: (transactions: LogTransaction[]) => void,
  ) {
    this.client = client;
    // A rate limits reading, and has no meaning for the past.
    const { rate: _, ...rest } = sub;
    this.sub = rest;
    this.begin = begin;
    this.live = live;
  }

  /** Reads a run before a mark. */
  read(mark: string, bytes = FIRST): void {
    const run = this.begin();
    let older: string | undefined;
    let complete = false;
    const finish = (): void => {
      if (complete || this.closed) return;
      complete = true;
      const next = older;
      if (!run.done(next !== undefined) || next === undefined) return;
      this.timer = setTimeout(() => this.read(next, Math.min(bytes * GROWTH, MOST)), PAUSE_MS);
      this.timer.unref();
    };
    const live = this.client.log(
      { ...this.sub, before: { mark, bytes } },
      {
        ready: (at) => {
          older = at;
        },
        frame: (data) => {
          const frame = this.closed ? null : decodeLogFrame(data);
          if (frame === null) return;
          if (complete) this.live(frame.transactions);
          else run.batch(frame.transactions);
        },
        reached: finish,
        end: () => {
          this.open.delete(live);
          finish();
        },
      },
    );
    this.open.add(live);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    for (const run of this.open) run.close();
  }
}
