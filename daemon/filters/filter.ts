// A body filter: a row of the table (filter-table.ts), which says when a body passes it and what it makes of the head,
// and a FilterFlow for each body that passes. No filter holds more than the piece it was given last and what its own
// machinery holds.

import type { EsiFeatures } from '../esi/esi-parser.ts';
import type { PlanCursor, PlanInclude } from '../esi/page-plan.ts';
import type { Abort, Room, Sink, Writer } from '../flow/flow.ts';
import type { Piece } from '../flow/piece.ts';
import type { ByteParts } from '../http1/byte-parts.ts';
import type { HttpMessage, MessageLog } from '../http1/message.ts';
import type { PageOutput } from './page-output.ts';

/**
 * One body on its way through one filter: the sink of what comes before it, and the source of what comes after. A filter
 * takes one piece at a time, holds it while it uses it, and answers `wait` until it is done with it.
 */
export abstract class FilterFlow implements Sink, Writer {
  readonly gathers = 0;
  /** How often and how many bytes it gave. */
  calls = 0;
  bytes = 0;
  protected closed = false;
  private readonly next: Sink;
  private writer: Writer | null = null;
  private state: 'open' | 'full' | 'ended' = 'open';
  /** The last piece, where it has to wait for room. */
  private lastPiece: Piece | null = null;
  private inputEnded = false;

  constructor(next: Sink) {
    this.next = next;
    next.connect(this);
  }

  connect(writer: Writer): void {
    this.writer = writer;
  }

  write(piece: Piece): Room {
    return this.closed ? 'wait' : this.take(piece, false);
  }

  end(piece: Piece): Room {
    if (this.closed) return 'wait';
    this.inputEnded = true;
    return this.take(piece, true);
  }

  flush(): void {
    if (!this.closed) this.next.flush();
  }

  abort(reason: Abort): void {
    if (this.closed) return;
    this.close();
    this.next.abort(reason);
  }

  stop(reason: Abort): void {
    if (this.closed) return;
    this.close();
    this.writer?.stop(reason);
  }

  room(): void {
    if (this.closed) return;
    const { lastPiece, state } = this;
    this.state = 'open';
    if (state === 'ended') this.over();
    else if (lastPiece === null) this.resume();
    else {
      this.lastPiece = null;
      this.giveLast(lastPiece);
      lastPiece.release();
    }
  }

  /** Lets go of everything; what was counted stays. */
  close(): void {
    this.closed = true;
    this.lastPiece?.release();
    this.lastPiece = null;
  }

  /** Logs what there is to say of a body that has passed. */
  report(_log: MessageLog): void {}

  /** Takes a piece, the last one with `isLast`. Answers `wait` where wantMore() or giveLast() follows later. */
  protected abstract take(piece: Piece, isLast: boolean): Room;

  /** The next sink takes more. */
  protected abstract resume(): void;

  /** Done with the piece for which take() answered `wait`. */
  protected wantMore(): void {
    if (!this.closed && !this.inputEnded) this.writer?.room();
  }

  protected give(piece: Piece): Room {
    if (this.closed) return 'wait';
    this.count(piece);
    const room = this.next.write(piece);
    if (this.closed) return 'wait';
    if (room === 'wait') this.state = 'full';
    return room;
  }

  /** Ends what comes out; from within take(), its answer. */
  protected giveLast(piece: Piece, inTake = false): Room {
    if (this.closed) return 'wait';
    if (this.state === 'full') {
      piece.hold();
      this.lastPiece = piece;
      return 'wait';
    }
    this.count(piece);
    this.state = 'ended';
    if (this.next.end(piece) === 'wait') return 'wait';
    if (inTake && this.inputEnded) {
      this.close();
      return 'more';
    }
    this.over();
    return 'wait';
  }

  /** The body is broken, which has been logged. */
  protected fail(): void {
    if (this.closed) return;
    this.close();
    this.next.abort('filter');
    this.writer?.stop('filter');
  }

  private count({ length }: Piece): void {
    if (length > 0) this.calls++;
    this.bytes += length;
  }

  /** All that comes out has been taken. */
  private over(): void {
    this.close();
    if (this.inputEnded) this.writer?.room();
    else this.writer?.stop('enough');
  }
}

/** Makes the filter of one body in front of a sink. */
export type FilterMaker = (next: Sink) => FilterFlow;

/** Counters that filters move. */
export interface FilterCounters {
  n_gzip: number;
  n_gunzip: number;
  n_test_gunzip: number;
  esi_errors: number;
  esi_warnings: number;
}

/** Parameters that filters read. */
export interface FilterParams {
  readonly gzip_buffer: number;
  readonly gzip_level: number;
  readonly gzip_memlevel: number;
  readonly http_gzip_support: number;
  readonly http_multi_range: number;
  readonly http_profile: number;
  readonly http_range_support: number;
}

/** A body, as every filter knows it. */
interface FilteredBody {
  /** Its response's head. */
  readonly head: HttpMessage;
  readonly log: MessageLog;
  readonly stats: FilterCounters;
  readonly params: FilterParams;
}

/** A body on its way from the origin into the store; filters change its description. */
export interface FetchedBody extends FilteredBody {
  /** Whether what is stored is gzip, whole as far as it was tested. */
  gzipped: boolean;
  /** Whether other bytes are stored than came. */
  recoded: boolean;
  /** Bytes of the stored body once unpacked; -1 where that is not known. */
  unpacked: number;
  /** The request that was sent to the origin. */
  readonly request: HttpMessage;
  readonly esiFeatures: EsiFeatures;
  readonly esiColon: boolean;
  /** The plan of what is to be done with the bytes that are stored, when they are a page of edge-side includes. */
  plan: Buffer | null;
}

/** A page of edge-side includes on its way to a client. */
export interface Page {
  /** Whether the stored page is packed. */
  readonly gzip: boolean;
  /** Where the walk through its plan is. */
  readonly walk: PlanCursor;
  /** The output that the page is written into when it is a fragment itself. */
  readonly within: PageOutput | null;
  /** Whether no filter follows, so that a packed page can share the stream that it is in. */
  readonly isBare: boolean;
  /** Writes a fragment; each in its turn. @param done called once, perhaps before this returns: whether the page continues */
  include(part: PlanInclude, output: PageOutput, done: (goesOn: boolean) => void): void;
  /** Goes on with the walk in a later turn of the event loop; nobody waits for an origin meanwhile. */
  later(proceed: () => void): void;
  /** Gives up all fragments that are not written yet. */
  close(): void;
}

/** A body on its way from the store to a client; filters change its description. */
export interface DeliveredBody extends FilteredBody {
  /** The request as the program left it. */
  readonly request: HttpMessage;
  /** Whether what comes is gzip. */
  gzipped: boolean;
  /** Bytes that come once unpacked; -1 where that is not known. */
  readonly unpacked: number;
  /** Bytes that come; -1 where that is not known. */
  length: number;
  /** Whether the head says that this is a part, and how long it is. */
  isPart: boolean;
  /** Whether a part may be sent of a body whose length is not known. */
  readonly cutsOpenBodies: boolean;
  /** The part of the stored body that is read, `to` exclusive. */
  from: number;
  to: number;
  /** Whether the stored body can be read at any place, so that several parts of it can be sent. */
  readonly isSeekable: boolean;
  /** Several parts that are read instead. */
  parts: ByteParts | null;
  /** Begins to deliver the body as a page of edge-side includes; null where it is none. */
  readonly openPage: (() => Page) | null;
  /** Whether what comes is the stored body as it is, so that leaving out bytes is done by not reading them. */
  readonly isSource: boolean;
}

/** Said by a filter for which the part that is read of the stored body does all. */
export const BY_READING = 'by reading';

/** A program's wishes for a fetched body. */
export interface FetchWishes {
  readonly doEsi: boolean;
  readonly doGzip: boolean;
  readonly doGunzip: boolean;
}

/** Facts of a response when its filters are chosen. */
export interface DeliveryFacts {
  readonly http: HttpMessage;
  readonly resp: HttpMessage;
  /** Whether the client takes gzip. */
  readonly canGzip: boolean;
  /** Whether the stored body is gzip that was tested or made here. */
  readonly isStoredGzip: boolean;
  /** Whether it is a page of edge-side includes, and the program lets it be one. */
  readonly isPage: boolean;
}

export interface FetchFilter {
  readonly name: string;
  readonly side: 'fetch';
  /** False where nothing may be delivered before the body has passed whole. */
  readonly streams?: boolean;
  /** Why the fetch fails where the body is a part of one (206), which is of no use to it. Without it parts pass beside
   * the filter as they are. */
  readonly refusesParts?: string;
  /** Whether a body passes it when the program names no filters. */
  wanted(head: HttpMessage, wishes: FetchWishes, params: FilterParams): boolean;
  /** Mends the head; null where there is nothing to do for this filter. */
  open(body: FetchedBody): FilterMaker | null;
}

export interface DeliveryFilter {
  readonly name: string;
  readonly side: 'delivery';
  wanted(facts: DeliveryFacts, params: FilterParams): boolean;
  open(body: DeliveredBody): FilterMaker | typeof BY_READING | null;
}

export type Filter = FetchFilter | DeliveryFilter;
