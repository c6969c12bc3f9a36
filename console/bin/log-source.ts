// Interfaces of sources and sinks of log transactions, as the main program of a tool uses them: a source has an end
// and can flush incomplete transactions on a signal; a sink can apply backpressure.

import type { LogTransaction } from '../../protocol/messages.ts';
import type { Client } from '../client/client.ts';

export interface LogSource {
  /** Resolves with the exit status. */
  done: Promise<number>;
  /** Outputs incomplete transactions. */
  flush(): void;
}

export interface LogSink {
  /** Writes groups; false if the source should wait for drain(). */
  write(groups: readonly LogTransaction[][]): boolean;
  drain(then: () => void): void;
  /** Called with each new connection to a daemon, before its log is asked for. */
  attached?(client: Client): Promise<void>;
}
