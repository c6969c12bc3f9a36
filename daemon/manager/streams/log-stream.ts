// Log subscriptions: one shared poll of the ring feeds all subscribers (in the making: refuses everything).

import type { LogSubscription } from '../../../protocol/messages.ts';
import type { Stream, StreamError, StreamSink } from './sink.ts';

export class LogStreams {
  readonly dir: string;

  /** `dir` is the working directory. */
  constructor(dir: string) {
    this.dir = dir;
  }

  /** Starts a subscription. Nothing is sent before this returns: send `ok` right after. */
  open(id: number, sub: LogSubscription, sink: StreamSink): Stream | StreamError {
    void [id, sub, sink];
    return { error: { code: 'internal', message: 'no log streams yet' } };
  }

  close(): void {}
}
