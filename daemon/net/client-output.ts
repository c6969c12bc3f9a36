// What goes out to one client: writes, the wait until a slow client has taken them, and the limits of that wait
// (idle_send_timeout while nothing moves, send_timeout in all). It knows nothing of requests.

import type { Core } from '../transaction/core.ts';
import type { ClientWire } from './client-wire.ts';

/** The session's limits in seconds, which a program may change. */
export interface SendLimits {
  readonly idleSendTimeout: number;
  readonly sendTimeout: number;
}

const NEVER = Number.POSITIVE_INFINITY;

export class ClientOutput {
  private readonly core: Core;
  private readonly wire: ClientWire;
  private readonly limits: SendLimits;
  /** When a client that does not take what was written is given up; never while nobody waits for it. */
  private deadline = NEVER;
  /** When progress no longer helps such a client: send_timeout after the response first had to wait. */
  private end = NEVER;
  /** Bytes in the kernel's way when the deadline was set. */
  private queued = 0;
  /** Called when the client has taken everything written so far. */
  private onDrain: (() => void) | null = null;

  constructor(core: Core, wire: ClientWire, limits: SendLimits) {
    this.core = core;
    this.wire = wire;
    this.limits = limits;
  }

  /** Writes buf[start, end) of the worker's shared output buffer, and with it parts that nobody changes until they have
   * left; whether they all have. */
  writeSharedAnd(buf: Buffer, start: number, end: number, parts: readonly Buffer[]): boolean {
    const isTaken = this.wire.writeAll([this.core.outputPart(buf, start, end), ...parts]);
    if (!isTaken) this.core.outputTaken();
    return isTaken;
  }

  /** Writes buf[start, end) of the worker's shared output buffer. */
  writeShared(buf: Buffer, start: number, end: number): void {
    if (!this.wire.write(this.core.outputPart(buf, start, end))) this.core.outputTaken();
  }

  /** Calls back once when everything written has left; never when the connection goes first. */
  drained(callback: () => void): void {
    const { wire } = this;
    const now = this.core.clock.now();
    this.onDrain = callback;
    this.queued = wire.queued;
    this.deadline = now + this.limits.idleSendTimeout;
    if (this.end === NEVER) this.end = now + this.limits.sendTimeout;
    wire.flushed(() => {
      if (this.onDrain !== callback) return;
      this.onDrain = null;
      this.deadline = NEVER;
      callback();
    });
  }

  /** A response is over: the next one has its whole time again. */
  responseDone(): void {
    this.end = NEVER;
  }

  /** True when the client has had its time. Any progress gets it more, up to send_timeout. */
  isStalled(now: number): boolean {
    if (now < this.deadline) return false;
    const { queued } = this.wire;
    if (queued < this.queued && now < this.end) {
      this.queued = queued;
      this.deadline = now + this.limits.idleSendTimeout;
      return false;
    }
    this.deadline = NEVER;
    return true;
  }
}
