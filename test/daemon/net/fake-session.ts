// A session without a network: a wire that accepts a set number of bytes, a manual clock, a log of texts, and
// requests answered by the test instead of the state machine.

import type { Room } from '../../../daemon/flow/flow.ts';
import type { Piece } from '../../../daemon/flow/piece.ts';
import type { ClientWire } from '../../../daemon/net/client-wire.ts';
import { Session } from '../../../daemon/net/session.ts';
import {
  type MainCounters,
  newMainCounters,
  newWaiterCounters,
} from '../../../daemon/stats/counter-fields.ts';
import { NO_ERROR, type SystemError } from '../../../daemon/system-error.ts';
import type { Core } from '../../../daemon/transaction/core.ts';
import { EsiState } from '../../../daemon/transaction/fragment-place.ts';
import { FramedFields } from '../../../daemon/transaction/hot-heads.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import { Turns } from '../../../daemon/turns/turns.ts';
import { TAGS, Tag } from '../../../protocol/tables/tags.ts';
import { textOf } from '../flow/flow-ends.ts';

/** Takes every call and keeps texts alone; numbers where a request reads them. */
function forgetfulLog(records: string[]): object {
  const put = (tag: number, text: string): void => {
    records.push(`${TAGS[tag - 1]?.name} ${text}`);
  };
  const log: object = new Proxy(
    {},
    {
      get: (_target, name) => {
        if (name === 'tPrev' || name === 'tFirst') return 0;
        if (name === 'end') return () => put(Tag.End, '');
        if (name === 'wants') return () => false;
        return name === 'put' ? put : () => log;
      },
      set: () => true,
    },
  );
  return log;
}

export class FakeWire implements ClientWire {
  error: SystemError = NO_ERROR;
  readonly remote = { address: '192.0.2.1', port: 1 };
  readonly local = { address: '192.0.2.2', port: 80 };
  readonly fd = 7;
  readonly written: string[] = [];
  isGone = false;
  queued = 0;
  ended = false;
  paused = false;
  wasReset = false;
  /** While false, what is written stays. */
  takes = true;
  private readonly waiting: (() => void)[] = [];

  get isSending(): boolean {
    return this.queued > 0;
  }

  get isFull(): boolean {
    return this.queued > 0;
  }

  write(piece: Piece): Room {
    this.written.push(textOf(piece));
    if (this.takes) return 'more';
    this.queued += piece.length;
    return 'wait';
  }

  flushed(callback: () => void): void {
    if (this.takes) callback();
    else this.waiting.push(callback);
  }

  /** The client reads everything that is queued. */
  drain(): void {
    this.takes = true;
    this.queued = 0;
    for (const callback of this.waiting.splice(0)) callback();
  }

  begin(): void {}
  keepAlive(): void {}
  end(): void {
    this.ended = true;
  }
  finish(): void {
    this.destroy();
  }
  destroy(): void {
    this.isGone = true;
  }
  reset(): void {
    this.wasReset = true;
    this.isGone = true;
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
}

/** Parts that the sessions of a thread share. */
export interface SharedParts {
  readonly stats: MainCounters;
  readonly esi: EsiState;
  readonly framed: FramedFields;
}

export function newSharedParts(): SharedParts {
  return { stats: newMainCounters(), esi: new EsiState(), framed: new FramedFields('Via: 1.1 test') };
}

export class FakeSession {
  now = 1000;
  /** Milliseconds of the steady clock. */
  millis = 0;
  private deferred: (() => void)[] = [];
  /** The thread's, which other sessions may share. */
  readonly turns: Turns;
  readonly wire = new FakeWire();
  readonly stats: MainCounters;
  readonly ran: string[] = [];
  /** Log records as "Tag text". */
  readonly records: string[] = [];
  readonly session: Session;
  closed = 0;
  /** Handles a request; ends it at once unless replaced. */
  answer: (req: Request) => void = (req) => req.session.requestDone();

  /** @param proxy as on a PROXY listener @param turns of a thread that it shares with another @param params more of them
   * @param shared with other sessions of a thread */
  constructor(
    proxy = false,
    turns: Turns | null = null,
    params: Readonly<Record<string, number>> = {},
    shared: SharedParts = newSharedParts(),
  ) {
    this.stats = shared.stats;
    this.turns =
      turns ??
      new Turns(
        () => this.millis,
        (run) => void this.deferred.push(run),
      );
    const core = {
      turns: this.turns,
      clock: { now: () => this.now },
      params: {
        timeout_idle: 5,
        timeout_linger: 0,
        idle_send_timeout: 60,
        send_timeout: 600,
        workspace_session: 768,
        ...params,
      },
      http2Plain: true,
      esi: shared.esi,
      hotHeads: { framed: shared.framed },
      later: (run: () => void) => void this.deferred.push(run),
      requestLimits: { maxLine: 8192, maxFields: 64, maxSize: 32768 },
      stats: this.stats,
      waiter: newWaiterCounters(),
      newVxid: () => 1,
      newLog: () => forgetfulLog(this.records),
    } as unknown as Core;
    this.session = new Session(
      core,
      { sessionClosed: () => this.closed++ },
      this.wire,
      { name: 'a0', socketText: '', isPath: false, proxy, tls: false },
      {
        start: (req) => {
          this.ran.push(req.http.url);
          this.answer(req);
        },
        run: () => undefined,
      },
    );
  }

  receive(text: string | Uint8Array): void {
    const bytes = Buffer.from(text as string, 'latin1');
    this.session.receive(bytes, 0, bytes.length);
    // The reader's buffer is another one's in the next moment.
    bytes.fill(0);
  }

  /** The next turn of the event loop; whether there was anything to do. */
  turn(): boolean {
    const due = this.deferred;
    this.deferred = [];
    for (const run of due) run();
    return due.length > 0;
  }

  /** Lets time pass and the sweep look. */
  pass(seconds: number): void {
    this.now += seconds;
    this.session.checkTimeout(this.now);
  }
}

export function get(url: string, fields = ''): string {
  return `GET ${url} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;
}
