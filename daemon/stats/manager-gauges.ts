// The gauges of MGT: how the worker stands, since when, when it was last heard of, and what the manager itself uses.
// Brought up to date before each reading of the counters; what must be asked of the system is asked once a second,
// however many readers there are.

import { WORKER_STATES, type WorkerStatus } from '../../protocol/tables/counters.ts';
import type { MgtCounters } from './counter-fields.ts';
import { LoopDelay, type TurnGauge } from './loop-delay.ts';
import { processorShare, residentBytes } from './processor-share.ts';

/** Least milliseconds between two looks at the system: a little less than the second of the readers. */
const BETWEEN = 900;
/** Milliseconds between two looks at the event loop's delay. */
const DELAY = 100;

/** Times in milliseconds of the epoch. */
export interface WorkerLook {
  readonly standing: WorkerStatus;
  readonly changedAt: number;
}

export class ManagerGauges {
  private readonly mgt: MgtCounters;
  private readonly look: () => WorkerLook;
  private readonly startedAt = Date.now();
  private readonly share = processorShare();
  private askedAt = 0;
  private readonly watch: TurnGauge;
  private readonly delay = new LoopDelay(DELAY);

  constructor(mgt: MgtCounters, look: () => WorkerLook, watch: TurnGauge) {
    this.watch = watch;
    this.delay.look(true);
    this.mgt = mgt;
    this.look = look;
  }

  /** `written`: when the worker has last written its counters. */
  update(written: number, now = Date.now()): void {
    const { mgt } = this;
    const { standing, changedAt } = this.look();
    mgt.uptime = seconds(this.startedAt, now);
    mgt.worker_state = WORKER_STATES.indexOf(standing);
    mgt.worker_since = seconds(changedAt, now);
    // A new worker has the counters of its predecessor before it has written its own.
    mgt.worker_silent = standing === 'running' ? seconds(Math.max(written, changedAt), now) : 0;
    if (now - this.askedAt < BETWEEN && now >= this.askedAt) return;
    this.askedAt = now;
    this.watch.lagged(this.delay.worst() / 1000);
    mgt.cpu = this.share();
    mgt.rss_bytes = residentBytes() ?? mgt.rss_bytes;
  }
}

/** Whole seconds; a clock that was set back gives none. */
function seconds(from: number, now: number): number {
  return Math.max(0, Math.floor((now - from) / 1000));
}
