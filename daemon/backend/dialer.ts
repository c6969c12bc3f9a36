// Opens a backend's new connections: tries its addresses in order, skips those that are held down, and counts
// failures. Varnish's rule decides how long a failure holds an address down: a refusal by the other side
// briefly, a lack of resources on this side longer. It knows nothing of exchanges, health or limits.

import type { VbeCounters } from '../stats/counter-fields.ts';
import { addressKey, type OriginAddress } from './address.ts';
import type { HoldDown } from './hold-down.ts';
import { type ConnectError, NOT_TRIED } from './system-error.ts';

export interface DialerParams {
  readonly backend_local_error_holddown: number;
  readonly backend_remote_error_holddown: number;
}

export class Dialer {
  /** Tried in order; the array is replaced when the name is resolved again. */
  addresses: readonly OriginAddress[];
  private readonly holdDown: HoldDown;
  private readonly params: DialerParams;
  private readonly counters: VbeCounters;

  constructor(
    addresses: readonly OriginAddress[],
    holdDown: HoldDown,
    params: DialerParams,
    counters: VbeCounters,
  ) {
    this.addresses = addresses;
    this.holdDown = holdDown;
    this.params = params;
    this.counters = counters;
  }

  /**
   * Opens a connection with `open` to the first address that takes one.
   * @param now epoch seconds
   * @returns what `open` made and where, or the last error; NOT_TRIED when all addresses are held down
   */
  async dial<T extends object>(
    now: number,
    open: (at: OriginAddress) => Promise<T | ConnectError>,
  ): Promise<{ made: T; at: OriginAddress } | ConnectError> {
    let error: ConnectError = NOT_TRIED;
    for (const at of this.addresses) {
      const key = addressKey(at);
      if (this.holdDown.holds(key, now)) continue;
      const made = await open(at);
      if (!('errno' in made)) return { made, at };
      error = made;
      this.failed(key, made, now);
    }
    if (error === NOT_TRIED) this.counters.helddown++;
    return error;
  }

  private failed(key: string, error: ConnectError, now: number): void {
    const { counters, params, holdDown } = this;
    switch (error.code) {
      case 'EACCES':
      case 'EPERM':
        counters.fail_eacces++;
        holdDown.hold(key, params.backend_local_error_holddown, now);
        break;
      case 'EADDRNOTAVAIL':
        counters.fail_eaddrnotavail++;
        holdDown.hold(key, params.backend_local_error_holddown, now);
        break;
      case 'ECONNREFUSED':
        counters.fail_econnrefused++;
        holdDown.hold(key, params.backend_remote_error_holddown, now);
        break;
      case 'ENETUNREACH':
        counters.fail_enetunreach++;
        holdDown.hold(key, params.backend_remote_error_holddown, now);
        break;
      case 'ETIMEDOUT':
        counters.fail_etimedout++;
        break;
      default:
        counters.fail_other++;
    }
  }
}
