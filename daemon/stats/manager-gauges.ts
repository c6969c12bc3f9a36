// The MGT gauges: the worker's status and the time since it changed, its last sign of life, and the manager's own use
// of resources. Updated before each reading of the counters; the system is queried once a second at most, however many
// readers there are.

import { WORKER_STATES, type WorkerStatus } from '../../protocol/tables/counters.ts';
import type { TurnWatch } from '../turns/turn-watch.ts';
import type { MgtCounters } from './counter-fields.ts';
import { LoopDelay } from './loop-delay.ts';
import { processorShare, residentBytes } from './processor-share.ts';
import { threadTimes } from './thread-times.ts';

/** Least milliseconds between two queries of the system: a little less than the readers' second. */
const BETWEEN = 900;
/** Milliseconds between two samples of the event loop's delay. */
const DELAY = 100;

/** Times in milliseconds of the epoch. */
export interface WorkerLook {
  readonly status: WorkerStatus;
  readonly changedAt: number;
}

export class ManagerGauges {
  private readonly mgt: MgtCounters;
  private readonly look: () => WorkerLook;
  private readonly startedAt = Date.now();
  private readonly share = processorShare();
  private readonly times = threadTimes();
  private askedAt = 0;
  private readonly watch: TurnWatch;
  private readonly delay = new LoopDelay(DELAY);

  constructor(mgt: MgtCounters, look: () => WorkerLook, watch: TurnWatch) {
    this.watch = watch;
    this.delay.enable(true);
    this.mgt = mgt;
    this.look = look;
  }

  /** @param written time at which the worker last wrote its counters */
  update(written: number, now = Date.now()): void {
    const { mgt } = this;
    const { status, changedAt } = this.look();
    mgt.uptime = seconds(this.startedAt, now);
    mgt.worker_state = WORKER_STATES.indexOf(status);
    mgt.worker_since = seconds(changedAt, now);
    // Until a new worker has written its counters, the file has those of its predecessor.
    mgt.worker_silent = status === 'running' ? seconds(Math.max(written, changedAt), now) : 0;
    if (now - this.askedAt < BETWEEN && now >= this.askedAt) return;
    this.askedAt = now;
    this.watch.lagged(this.delay.worst() / 1000, this.times());
    mgt.cpu = this.share();
    mgt.rss_bytes = residentBytes() ?? mgt.rss_bytes;
  }
}

/** Whole seconds; 0 when the clock was set back. */
function seconds(from: number, now: number): number {
  return Math.max(0, Math.floor((now - from) / 1000));
}
