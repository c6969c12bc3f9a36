// Counter subscriptions over the counters file and the manager's own counters (in the making).

import type { CounterSubscription } from '../../../protocol/messages.ts';
import type { MgtCounters } from '../../stats/counters.ts';
import type { Stream, StreamError, StreamSink } from './sink.ts';

export class CounterStreams {
  readonly dir: string;
  readonly mgt: MgtCounters;

  /** `mgt` is read at each message; the manager keeps it up to date (uptime included). */
  constructor(dir: string, mgt: MgtCounters) {
    this.dir = dir;
    this.mgt = mgt;
  }

  /** Starts a subscription. Nothing is sent before this returns: send `ok` right after. */
  open(id: number, sub: CounterSubscription, sink: StreamSink): Stream | StreamError {
    void [id, sub, sink];
    return { error: { code: 'internal', message: 'no counter streams yet' } };
  }

  close(): void {}
}
