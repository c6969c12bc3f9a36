// One poll of a probe: connect, send the request, read to the end, judge the first line. It ends by itself at its
// time limit whatever the origin does, keeps 127 bytes of the answer, and never throws.

import type { Socket } from 'node:net';
import { keep, type LentBytes } from '../http1/lent-bytes.ts';
import { endOfHead } from '../http1/modern-head.ts';
import { Deadline } from './deadline.ts';
import type { SocketReader } from './exchange-roles.ts';
import type { ProbeSettings } from './probe-settings.ts';
import type { ProbeBit } from './probe-window.ts';
import { type ConnectError, connectError, errorText, TIMED_OUT } from './system-error.ts';

/** What a poll found: window bits, seconds (0 without an answer) and the text of the log. */
export interface PollResult {
  readonly bits: readonly ProbeBit[];
  readonly seconds: number;
  readonly text: string;
}

/** How a poll reaches its origin. */
export interface PollWay {
  /** Connects within `timeout` seconds; the kind of the address comes with it. */
  connect(
    timeout: number,
    read: SocketReader,
  ): Promise<{ socket: Socket; family: '4' | '6' | 'U' } | ConnectError>;
  /** The preamble of the request on this connection. */
  lead(socket: Socket): Buffer | null;
}

/** Bytes kept of a response, as in Varnish. */
const KEPT = 127;

export class ProbePoll {
  readonly result: Promise<PollResult>;
  private readonly settings: ProbeSettings;
  private readonly started = performance.now();
  private readonly bits: ProbeBit[] = [];
  private readonly kept = Buffer.alloc(KEPT);
  private length = 0;
  /** Last bytes of a head that is still to end. */
  private tail = Buffer.alloc(0);
  private readonly deadline = new Deadline(() => this.timedOut());
  private socket: Socket | null = null;
  private settle: ((result: PollResult) => void) | null = null;

  constructor(settings: ProbeSettings, way: PollWay) {
    this.settings = settings;
    this.result = new Promise((settle) => {
      this.settle = settle;
    });
    void this.run(way);
  }

  /** Stops without a result. */
  cancel(): void {
    this.settle = null;
    this.deadline.stop();
    this.socket?.destroy();
  }

  private async run(way: PollWay): Promise<void> {
    const { timeout, request } = this.settings;
    this.deadline.start(timeout);
    const made = await way.connect(timeout, (buf, start, end) => this.received(buf, start, end));
    if (!('socket' in made)) {
      this.finish(0, `Open error ${errorText(made)}`);
      return;
    }
    const { socket, family } = made;
    this.socket = socket;
    socket.on('error', (error) => this.failed(error));
    if (this.settle === null) {
      socket.destroy();
      return;
    }
    this.bits.push(family);
    socket.on('end', () => this.ended());
    socket.on('close', () => this.ended());
    const lead = way.lead(socket);
    this.bits.push('X');
    socket.write(lead === null ? request : Buffer.concat([lead, request]));
  }

  private timedOut(): void {
    const text = errorText(TIMED_OUT);
    if (this.socket === null) this.finish(0, `Open error ${text}`);
    else this.broke(`Poll error ${text}`);
  }

  private received(buf: LentBytes, start: number, end: number): boolean {
    const room = Math.min(KEPT - this.length, end - start);
    if (room > 0) {
      this.kept.set(buf.subarray(start, start + room), this.length);
      this.length += room;
    }
    if (!this.settings.expectClose) {
      const text = Buffer.concat([this.tail, keep(buf, start, end)]);
      if (endOfHead(text, 0, text.length) >= 0) this.answered();
      else this.tail = text.subarray(-2);
    }
    return true;
  }

  private ended(): void {
    if (this.length === 0) this.finish(0, 'Empty response');
    else if (this.settings.expectClose) this.answered();
    else this.broke('Unexpected close');
  }

  private failed(error: NodeJS.ErrnoException): void {
    const text = errorText(connectError(error));
    if (error.syscall !== 'write') {
      this.broke(`Read error ${text}`);
      return;
    }
    this.bits.splice(this.bits.indexOf('X'), 1, 'x');
    this.finish(0, `Write error ${text}`);
  }

  private broke(text: string): void {
    this.bits.push('r');
    this.finish(0, text);
  }

  /** The response has come: its first line decides. */
  private answered(): void {
    const line = (/^[^\r\n]*/.exec(this.kept.toString('latin1', 0, this.length)) as RegExpExecArray)[0];
    const status = /^HTTP\/\d+(?:\.\d*)?\s+\+?(\d+)/.exec(line)?.[1];
    this.bits.push('R');
    if (Number(status) === this.settings.expected) this.bits.push('H');
    this.finish(this.elapsed(), line);
  }

  private elapsed(): number {
    return (performance.now() - this.started) / 1000;
  }

  private finish(seconds: number, text: string): void {
    this.deadline.stop();
    this.socket?.destroy();
    const { settle } = this;
    this.settle = null;
    settle?.({ bits: [...this.bits], seconds, text });
  }
}
