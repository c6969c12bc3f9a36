// What a fetch that has ended leaves to another one, because making it costs more than emptying it: messages with their
// arrays, and the log. Everything else of a fetch is made new with it.

import { Tag } from '../../protocol/tables/tags.ts';
import { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core } from '../transaction/core.ts';

/** Sets kept for the next fetches, at most: about as many as a worker has under way at once. */
const MAX_SPARE = 64;

export class FetchBuffers {
  readonly bereq = new HttpMessage(Tag.BereqMethod);
  readonly beresp = new HttpMessage(Tag.BerespMethod);
  /** The request's head as first made, for retries and rollback. */
  readonly original = new HttpMessage(Tag.BereqMethod);
  /** The response's head as it goes into the store. */
  readonly stored = new HttpMessage(Tag.ObjMethod);
  readonly log: TxLog;

  constructor(core: Core) {
    this.log = core.newLog();
  }

  /** Those of a fetch that has ended, emptied, or new ones. */
  static take(core: Core): FetchBuffers {
    const spare = core.spareFetchBuffers.pop() as FetchBuffers | undefined;
    if (spare === undefined) return new FetchBuffers(core);
    spare.bereq.reset();
    spare.beresp.reset();
    spare.original.reset();
    spare.stored.reset();
    return spare;
  }

  giveBack(core: Core): void {
    if (core.spareFetchBuffers.length >= MAX_SPARE) return;
    // These may lie in the read buffer of a connection.
    this.beresp.raw = null;
    this.stored.raw = null;
    core.spareFetchBuffers.push(this);
  }
}
