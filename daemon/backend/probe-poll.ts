// One poll of a probe: connect, send the request, read to the end, evaluate the first line. It ends at its time limit
// whatever the origin does, keeps 127 bytes of the answer, and never throws.

import { latin1Text } from '../http1/latin1.ts';
import type { LentBytes } from '../http1/lent-bytes.ts';
import { errorText, type SystemError, TIMED_OUT } from '../system-error.ts';
import { addressFamily } from './address.ts';
import { Deadline } from './deadline.ts';
import type { DialRound } from './dialer.ts';
import type { ProbeSettings } from './probe-settings.ts';
import type { ProbeBit } from './probe-window.ts';
import type { OpenWire, ProbeWire, WireUser } from './probe-wire.ts';

/** Result of a poll: window bits, seconds (0 without an answer) and the log's text. */
export interface PollResult {
  readonly bits: readonly ProbeBit[];
  readonly seconds: number;
  readonly text: string;
}

/** The way a poll reaches its origin. */
export interface PollWay {
  /** Begins an attempt at the backend's addresses. */
  dial(): DialRound;
  readonly open: OpenWire;
  /** The preamble of the request on this connection. */
  lead(wire: ProbeWire): Buffer | null;
}

export interface PollOwner {
  /** The poll has ended, unless it was cancelled. */
  polled(result: PollResult): void;
}

/** Bytes kept of a response, as in Varnish. */
const KEPT = 127;

export class ProbePoll implements WireUser {
  private readonly settings: ProbeSettings;
  private readonly way: PollWay;
  private readonly owner: PollOwner;
  private readonly started = performance.now();
  private readonly round: DialRound;
  private readonly bits: ProbeBit[] = [];
  private readonly deadline = new Deadline(() => this.timedOut());
  /** The first bytes of the response. */
  private kept = '';
  private wire: ProbeWire | null = null;
  private over = false;

  constructor(settings: ProbeSettings, way: PollWay, owner: PollOwner) {
    this.settings = settings;
    this.way = way;
    this.owner = owner;
    this.round = way.dial();
  }

  /** Starts the poll; may report before it returns when no address can be tried. */
  start(): void {
    this.deadline.start(this.settings.timeout);
    this.connect();
  }

  /** Stops without a result. */
  cancel(): void {
    this.over = true;
    this.deadline.stop();
    this.wire?.close();
  }

  private connect(): void {
    const at = this.round.next();
    if (at === null) this.finish(0, `Open error ${errorText(this.round.error)}`);
    else this.wire = this.way.open(at, this);
  }

  connected(): void {
    const { way, wire, settings } = this;
    this.bits.push(addressFamily(this.round.address), 'X');
    const lead = way.lead(wire as ProbeWire);
    (wire as ProbeWire).write(lead === null ? settings.request : Buffer.concat([lead, settings.request]));
  }

  private timedOut(): void {
    if (this.bits.length > 0) {
      // An origin that need not close has had its time to answer.
      if (!this.settings.expectClose) this.ended();
      else this.broke(`Poll error ${errorText(TIMED_OUT)}`);
      return;
    }
    const error = this.wire?.lateness ?? TIMED_OUT;
    this.round.failed(error);
    this.finish(0, `Open error ${errorText(error)}`);
  }

  received(buf: LentBytes, start: number, end: number): void {
    const room = Math.min(KEPT - this.kept.length, end - start);
    if (room > 0) this.kept += latin1Text(buf, start, start + room);
  }

  ended(): void {
    if (this.kept === '') this.finish(0, 'Empty response');
    else this.answered();
  }

  failed(error: SystemError, what: 'connect' | 'read' | 'write'): void {
    switch (what) {
      case 'connect':
        this.wire?.close();
        this.round.failed(error);
        this.connect();
        break;
      case 'write':
        this.bits.splice(this.bits.indexOf('X'), 1, 'x');
        this.finish(0, `Write error ${errorText(error)}`);
        break;
      case 'read':
        this.broke(`Read error ${errorText(error)}`);
    }
  }

  private broke(text: string): void {
    this.bits.push('r');
    this.finish(0, text);
  }

  /** No more of the response is waited for: its first line decides. */
  private answered(): void {
    const line = (/^[^\r\n]*/.exec(this.kept) as RegExpExecArray)[0];
    const status = /^HTTP\/\d+(?:\.\d*)?\s+\+?(\d+)/.exec(line)?.[1];
    this.bits.push('R');
    if (Number(status) === this.settings.expected) this.bits.push('H');
    this.finish((performance.now() - this.started) / 1000, line);
  }

  private finish(seconds: number, text: string): void {
    if (this.over) return;
    this.cancel();
    this.owner.polled({ bits: this.bits, seconds, text });
  }
}
