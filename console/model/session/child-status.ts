// Status of another product's child process as the counters of this project's daemon, so that the worse of two
// instances is found. Varnish does not report it; its counters have the child's uptime only while there is a child.

import type { CounterInfo } from '../../../protocol/messages.ts';
import { WORKER_STATES } from '../../../protocol/tables/counters.ts';

export const STATE = 'MGT.worker_state';
export const STATE_SINCE = 'MGT.worker_since';

export class ChildStatus {
  /** Index of the child's uptime; null where nothing is added. */
  private uptimeAt: number | null = null;
  private stoppedAt: number | null = null;

  /** The counters, with the two of the status where the product has none. */
  describe(info: CounterInfo[], product: string | undefined): CounterInfo[] {
    this.uptimeAt = null;
    if (product === undefined || info.some((row) => row.name === STATE)) return info;
    this.uptimeAt = info.findIndex((row) => row.name === 'MAIN.uptime');
    const row = (name: string, format: 'i' | 'd', description: string): CounterInfo => ({
      name,
      flag: 'g',
      format,
      level: 'diag',
      description,
    });
    return [
      ...info,
      row(STATE, 'i', 'How the child stands, as this console reads it from its uptime'),
      row(STATE_SINCE, 'd', 'Seconds for which it is known to stand so'),
    ];
  }

  /** The values of the last described counters; `at` in epoch seconds. */
  values(at: number, values: bigint[]): bigint[] {
    if (this.uptimeAt === null) return values;
    const uptime = values[this.uptimeAt];
    if (uptime !== undefined) {
      this.stoppedAt = null;
      return [...values, stateNumber('running'), uptime];
    }
    this.stoppedAt ??= at;
    return [...values, stateNumber('stopped'), BigInt(Math.round(at - this.stoppedAt))];
  }
}

function stateNumber(state: (typeof WORKER_STATES)[number]): bigint {
  return BigInt(WORKER_STATES.indexOf(state));
}
