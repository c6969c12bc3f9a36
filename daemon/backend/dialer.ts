// Opens a backend's new connections: tries its addresses in order, skips those in hold-down, and counts failures. The
// hold-down times are Varnish's: short after a refusal by the other side, longer after a lack of local resources. It
// knows nothing of exchanges, health or limits.

import type { VbeCounters } from '../stats/counter-fields.ts';
import { NO_ERROR, type SystemError } from '../system-error.ts';
import { addressKey, type OriginAddress } from './address.ts';
import type { HoldDown } from './hold-down.ts';
import { TLS_FAILED } from './tls-failures.ts';

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
  /** Addresses whose TLS handshake failed, and until when it is not tried again. */
  private readonly refusals = new Map<string, { error: SystemError; until: number }>();

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

  /** @param now epoch seconds */
  begin(now: number): DialRound {
    return new DialRound(this, this.addresses, now);
  }

  /**
   * Opens a connection with `open` to the first address that accepts one.
   * @param now epoch seconds
   * @returns the connection and its address, or the last error; NO_ERROR when all addresses are in hold-down
   */
  async dial<T extends object>(
    now: number,
    open: (at: OriginAddress) => Promise<T | SystemError>,
  ): Promise<{ made: T; at: OriginAddress } | SystemError> {
    const round = this.begin(now);
    for (let at = round.next(); at !== null; at = round.next()) {
      const made = await open(at);
      if (!('errno' in made)) return { made, at };
      round.failed(made);
    }
    return round.error;
  }

  /** Whether this address is in hold-down. */
  holds(at: OriginAddress, now: number): boolean {
    return this.holdDown.holds(addressKey(at), now);
  }

  /** The failure of a TLS handshake with this address a moment ago; null if another may be tried. */
  refusal(at: OriginAddress, now: number): SystemError | null {
    const refusal = this.refusals.get(addressKey(at));
    return refusal === undefined || now >= refusal.until ? null : refusal.error;
  }

  /** Not in the common hold-down: other backends at this address may have other settings, or no TLS. */
  private refuse(key: string, error: SystemError, now: number): void {
    const until = now + this.params.backend_remote_error_holddown;
    if (this.refusals.size >= this.addresses.length) this.refusals.clear();
    this.refusals.set(key, { error, until });
  }

  /** Counts an attempt with all addresses in hold-down. */
  heldDown(): void {
    this.counters.helddown++;
  }

  failed(at: OriginAddress, error: SystemError, now: number): void {
    const { counters, params, holdDown } = this;
    const key = addressKey(at);
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
      case TLS_FAILED:
        counters.fail_tls++;
        this.refuse(key, error, now);
        break;
      default:
        counters.fail_other++;
    }
  }
}

/** The addresses of one attempt, in order. */
export class DialRound {
  /** The last error. */
  error: SystemError = NO_ERROR;
  /** Why an address was not tried, after a failed handshake. */
  private refusal: SystemError | null = null;
  private readonly dialer: Dialer;
  private readonly addresses: readonly OriginAddress[];
  private readonly now: number;
  private at = -1;

  constructor(dialer: Dialer, addresses: readonly OriginAddress[], now: number) {
    this.dialer = dialer;
    this.addresses = addresses;
    this.now = now;
  }

  /** The next address that is not in hold-down; null after the last. */
  next(): OriginAddress | null {
    const { dialer, addresses, now } = this;
    while (++this.at < addresses.length) {
      const at = addresses[this.at] as OriginAddress;
      if (dialer.holds(at, now)) continue;
      const refusal = dialer.refusal(at, now);
      if (refusal === null) return at;
      this.refusal = refusal;
    }
    if (this.error !== NO_ERROR) return null;
    dialer.heldDown();
    // Varnish's text for hold-down names no reason; that of a failed handshake is known.
    if (this.refusal !== null) this.error = this.refusal;
    return null;
  }

  /** The address that next() returned. */
  get address(): OriginAddress {
    return this.addresses[this.at] as OriginAddress;
  }

  /** The connection to the current address failed. */
  failed(error: SystemError): void {
    this.error = error;
    this.dialer.failed(this.address, error, this.now);
  }
}
