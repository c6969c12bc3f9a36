// Runs the cache's maintenance when it is due: never two steps in one turn of the event loop.

import type { CacheMaintenance } from '../cache/maintenance.ts';
import type { TurnWatch } from '../turns/turn-watch.ts';

export class MaintenanceTimer {
  private readonly maintenance: () => Pick<CacheMaintenance, 'step'>;
  private readonly now: () => number;
  /** Timer of the next step; null while a step is due in the next turn. */
  private timer: NodeJS.Timeout | null = null;
  private running = false;
  private readonly watch: TurnWatch;

  /** @param now in epoch seconds */
  constructor(maintenance: () => Pick<CacheMaintenance, 'step'>, now: () => number, watch: TurnWatch) {
    this.maintenance = maintenance;
    this.now = now;
    this.watch = watch;
  }

  start(): void {
    this.running = true;
    this.step();
  }

  /** Called when work has appeared that is due before the next step. */
  wake(): void {
    if (this.timer === null || !this.running) return;
    clearTimeout(this.timer);
    this.timer = null;
    setImmediate(() => this.step());
  }

  private step(): void {
    this.timer = null;
    const wait = this.watch.run('expiry and bans', () => this.maintenance().step(this.now()));
    if (wait > 0) this.timer = setTimeout(() => this.step(), wait * 1000);
    else setImmediate(() => this.step());
  }
}
