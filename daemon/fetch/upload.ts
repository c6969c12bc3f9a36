// The body of a request on its way to an origin, through the filters of req.filters and bereq.filters where there are any.
// A body that fails midway cuts the origin connection: the origin must never take half a body for a whole one (SAFETY
// rule 3).

import type { FetchFailure } from '../../protocol/tables/close-reasons.ts';
import type { OriginConnection } from '../backend/connection.ts';
import { Deadline } from '../backend/deadline.ts';
import { KeepingQueue } from '../filters/keeping-queue.ts';
import { type Abort, asserted, Flow, type Room, type Sink, type Writer } from '../flow/flow.ts';
import type { AnyPiece } from '../flow/piece.ts';
import type { UploadSource } from '../transaction/request-body.ts';

/** Filters that a request's body passes. */
export interface UploadChain {
  /** Whether any of them has something to do. */
  readonly works: boolean;
  connect(sink: Sink, asserts: boolean): Sink;
}

export interface Uploaded {
  readonly failure: FetchFailure | null;
  /** Whether all of it was handed over. An origin that wants no more of it is no failure. */
  readonly isWhole: boolean;
}

/**
 * Sends a body, until all of it was handed over, the origin wants no more of it, or something went wrong.
 * @param patience seconds that the origin may take nothing
 * @param chains of filters, in the order in which the body passes them
 */
export function sendBody(
  to: OriginConnection,
  body: UploadSource,
  patience: number,
  chains: readonly UploadChain[] = [],
  asserts = false,
): Promise<Uploaded> {
  return new Promise((settle) => {
    const upload = new Upload(to, patience);
    const queue = chains.length === 0 ? null : queued(upload, chains, asserts);
    const flow = new Flow<AnyPiece>(body, queue ?? upload, asserts, (reason) => {
      upload.close();
      const failure = reason === null || reason === 'first-byte-timeout' ? reason : 'request-body';
      settle({ failure, isWhole: upload.ended });
    });
    flow.start();
    queue?.uncork();
  });
}

function queued(upload: Upload, chains: readonly UploadChain[], asserts: boolean): KeepingQueue {
  let sink: Sink = upload;
  for (const chain of chains.toReversed()) sink = chain.connect(sink, asserts);
  return new KeepingQueue(asserted(sink, asserts));
}

class Upload implements Sink<AnyPiece> {
  readonly gathers = 0;
  /** All of the body has been handed over. */
  ended = false;
  private readonly to: OriginConnection;
  private readonly patience: number;
  private readonly stalled: Deadline;
  private writer: Writer | null = null;
  private isFull = false;

  constructor(to: OriginConnection, patience: number) {
    this.to = to;
    this.patience = patience;
    this.stalled = new Deadline(() => this.stop('first-byte-timeout'));
    to.onDrain = () => {
      this.stalled.stop();
      if (this.isUnwanted || !this.isFull) return;
      this.isFull = false;
      this.writer?.room();
    };
  }

  connect(writer: Writer): void {
    this.writer = writer;
  }

  write(piece: AnyPiece): Room {
    if (this.isUnwanted) return 'wait';
    if (this.to.write(piece) === 'more') return 'more';
    this.isFull = true;
    this.stalled.start(this.patience);
    return 'wait';
  }

  end(piece: AnyPiece): Room {
    if (piece.length > 0) this.to.write(piece);
    this.ended = true;
    return 'more';
  }

  flush(): void {}

  abort(): void {}

  close(): void {
    this.stalled.stop();
    this.writer = null;
  }

  /** An origin that has answered or gone does not want the rest. */
  private get isUnwanted(): boolean {
    const { to } = this;
    if (to.isOpen && !to.answered) return false;
    this.stop('enough');
    return true;
  }

  private stop(reason: Abort): void {
    this.writer?.stop(reason);
  }
}
