// What a body filter is: a row of the table (filter-table.ts), which says when a body passes it and what it makes of
// the head, and a processor for each body that passes.
//
// Bytes are pushed. Whoever takes them says whether it is done with them and takes more at once; when it is not, it
// calls back later, and until then nothing more is given. So no filter holds more than the bytes it was given last and
// what its own machinery holds, and a slow reader stops the whole chain back to its source.

import type { EsiFeatures } from '../esi/esi-parser.ts';
import type { PlanCursor, PlanInclude } from '../esi/page-plan.ts';
import type { HttpMessage, MessageLog } from '../http1/message.ts';
import type { PageOutput } from './page-output.ts';

/** Takes what comes out of a filter. */
export interface Outlet {
  /**
   * Takes bytes, none of them perhaps with `last`, after which nothing follows.
   * @returns false when they are still in use, and nothing more is to be given until Processor.resume()
   */
  data(bytes: Buffer, last: boolean): boolean;
  /** The processor is done with bytes for which its data() returned false, and takes more. */
  ready(): void;
  /** The body is broken; the processor has logged why. Nothing follows. */
  fail(): void;
}

/** One body on its way through one filter. */
export interface Processor {
  /**
   * Takes bytes, which stay as they are until it is done with them; `last` as in Outlet.
   * @returns false when it is not done with them: Outlet.ready() follows, unless they were the last
   */
  data(bytes: Buffer, last: boolean): boolean;
  /** The outlet takes bytes again. */
  resume(): void;
  /** The body is over or given up: lets go of everything, and calls nobody afterwards. */
  close(): void;
  /** Logs what there is to say of a body that was passed whole. */
  report(log: MessageLog): void;
}

/** Makes the processor of one body. */
export type ProcessorMaker = (outlet: Outlet) => Processor;

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
  readonly http_range_support: number;
}

/** What every filter knows of the body it is asked about. */
interface FilteredBody {
  /** Its response's head. */
  readonly head: HttpMessage;
  readonly log: MessageLog;
  readonly stats: FilterCounters;
  readonly params: FilterParams;
}

/** A body on its way from the origin into the store; filters change what is said of it. */
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
  /** The plan of what is to be done with the bytes that are stored, when they are a page of edge-side includes. */
  plan: Buffer | null;
}

/** A page of edge-side includes on its way to a client. */
export interface Page {
  /** Whether the stored page is packed. */
  readonly gzip: boolean;
  /** Where the walk through its plan is. */
  readonly walk: PlanCursor;
  /** What the page is written into when it is a fragment itself. */
  readonly within: PageOutput | null;
  /** Whether nothing comes behind the filter, so that a packed page can share the stream that it is in. */
  readonly isBare: boolean;
  /** Writes a fragment; each in its turn. @param done called once, perhaps before this returns: whether the page goes on */
  include(part: PlanInclude, output: PageOutput, done: (goesOn: boolean) => void): void;
  /** Goes on with the walk in a later turn of the event loop; nobody waits for an origin meanwhile. */
  later(goOn: () => void): void;
  /** Gives up all fragments that are not written yet. */
  close(): void;
}

/** A body on its way from the store to a client; filters change what is said of it. */
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
  /** The part of the stored body that is read, `to` exclusive. */
  from: number;
  to: number;
  /** Begins to deliver the body as a page of edge-side includes; null where it is none. */
  readonly openPage: (() => Page) | null;
  /** Whether what comes is the stored body as it is, so that leaving out bytes is done by not reading them. */
  readonly isSource: boolean;
}

/** Said by a filter for which the part that is read of the stored body does all. */
export const BY_READING = 'by reading';

/** What a program may want of a fetched body. */
export interface FetchWishes {
  readonly doEsi: boolean;
  readonly doGzip: boolean;
  readonly doGunzip: boolean;
}

/** What is known of a response when its filters are chosen. */
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
  open(body: FetchedBody): ProcessorMaker | null;
}

export interface DeliveryFilter {
  readonly name: string;
  readonly side: 'delivery';
  wanted(facts: DeliveryFacts, params: FilterParams): boolean;
  open(body: DeliveredBody): ProcessorMaker | typeof BY_READING | null;
}

export type Filter = FetchFilter | DeliveryFilter;
