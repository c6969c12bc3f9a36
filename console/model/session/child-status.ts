// How the child of another product stands, in this project's words, so that the worse of two instances is found whatever
// they are. Varnish does not say it; it has the child's uptime as long as there is a child.

import type { CounterInfo } from '../../../protocol/messages.ts';
import { WORKER_STATES } from '../../../protocol/tables/counters.ts';

export const STATE = 'MGT.worker_state';
export const STATE_SINCE = 'MGT.worker_since';

export class ChildStatus {
  /** Place of the child's uptime; null where nothing is added. */
  private uptimeAt: number | null = null;
  private stoppedAt: number | null = null;

  /** The counters, with two more that say it where the product does not. */
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

  /** The values of the counters described last; `at` in epoch seconds. */
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
