// One attempt of a fetch: the request to an origin, its connection and what has come of it so far, and the program's decisions
// about the answer. exchange-steps.ts takes it from the choice of a backend to the head of the answer. A retry replaces it
// whole, and so does an answer that is made here, so that nothing of a former attempt is left.

import type { CloseReason, FetchFailure } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { ConnectionEnds } from '../backend/address.ts';
import type { Backend } from '../backend/backend.ts';
import type { OriginConnection } from '../backend/connection.ts';
import type { InterimCallback } from '../backend/exchange-roles.ts';
import { OriginFailure } from '../backend/origin-failure.ts';
import type { PartFacts } from '../cache/part-facts.ts';
import type { VclContext, VclFetchAttempt } from '../contract/context.ts';
import type { PeerTls } from '../contract/peer-tls.ts';
import type { FetchChain } from '../filters/chain.ts';
import type { DeliveryFilter } from '../filters/filter.ts';
import { type FilterList, NO_FETCH_FILTERS } from '../filters/filter-table.ts';
import { DISCARD } from '../flow/flow.ts';
import { type BodyFraming, NO_BODY } from '../http1/framing.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core } from '../transaction/core.ts';
import { closeText } from './close-text.ts';
import type { UploadFilters } from './upload-filters.ts';

/** Stands for a head of which nothing has come. */
const UNKNOWN = new OriginFailure('aborted');

/** The parts of a fetch (BusyObj) that an attempt uses. */
interface AttemptOwner {
  readonly core: Core;
  readonly ctx: VclContext;
  readonly log: TxLog;
  readonly beresp: HttpMessage;
  readonly stored: HttpMessage;
  readonly onInterim: InterimCallback | null;
  /** Seconds; negative for the backend's. */
  readonly betweenBytesTimeout: number;
  headBytesOut: number;
  bodyBytesOut: number;
  headBytesIn: number;
  bodyBytesIn: number;
}

/** The body of an answer on its way into the store. */
interface BodyUnderway {
  /** Why it broke off. */
  readonly failure: FetchFailure | null;
  /** Logs the filters and then the reader of the framing. */
  report(framing: BodyFraming): void;
}

export class FetchAttempt implements VclFetchAttempt {
  readonly vxid: number;
  // The request to the origin.
  /** Null before one is chosen. */
  backend: Backend | null = null;
  connection: OriginConnection | null = null;
  /** The result of acquire(). */
  opened: OriginConnection | OriginFailure | null = null;
  /** The failure of the request's body, and of the answer's head. */
  bodyFailure: FetchFailure | null = null;
  failure: OriginFailure | null = null;
  /** How the request's body is framed; null before the first try. */
  uploadFraming: BodyFraming | null = null;
  /** The filters of bereq.filters, and those that the body passes; null before the first try. */
  uploadList: FilterList<DeliveryFilter> | null = null;
  uploadFilters: UploadFilters | null = null;
  /** All of the request's body was handed over. */
  isBodyWhole = false;
  tries = 0;
  /** How often a fragment ahead of its turn has waited for a connection. */
  waits = 0;
  /** An exception of a callback, for the next step to throw. */
  defect: unknown = null;
  // The answer.
  respEnds: ConnectionEnds | null = null;
  respTls: PeerTls | null = null;
  hasBody = false;
  was304 = false;
  doStream = true;
  doEsi = false;
  doGzip = false;
  doGunzip = false;
  /** beresp.filters; null until the program sets them. */
  filters: string | null = null;
  /** The stale object stands in for an error of the origin. */
  standsIn = false;
  /** The program has taken the request back after it was answered: its answer is not for keeping. */
  rolledBack = false;
  /** Why the stale object's body could not be copied. */
  copyFailure: FetchFailure | null = null;
  /** How the answer's body is framed. */
  framing: BodyFraming = NO_BODY;
  /** The filters chosen for the body, and what they are for this one; null where it passes none. */
  filterList = NO_FETCH_FILTERS;
  chain: FetchChain | null = null;
  /** The body on its way into the store; null before its first byte and without a body. */
  body: BodyUnderway | null = null;
  synthBody: string | null = null;
  /** The slice that is stored; null where it is a whole object. */
  part: PartFacts | null = null;
  /** The answer is made here, for an origin that gave none or none that the program takes. */
  madeHere = false;
  /** An error that only the waiters of this fetch share. */
  forWaiters = false;
  /** The origin answered a HEAD. */
  headAlone = false;
  private readonly bo: AttemptOwner;
  /** Goes on with the fetch; null while it does not wait. */
  private proceed: (() => void) | null = null;

  /** @param vxid the id of the attempt's transaction */
  constructor(bo: AttemptOwner, vxid: number) {
    this.bo = bo;
    this.vxid = vxid;
  }

  /** The attempt after this one. beresp.do_gzip and beresp.do_gunzip stay as the program has set them, as in Varnish. */
  next(vxid: number): FetchAttempt {
    const attempt = new FetchAttempt(this.bo, vxid);
    attempt.doGzip = this.doGzip;
    attempt.doGunzip = this.doGunzip;
    return attempt;
  }

  /** The attempt that answers in place of the origin. */
  madeInstead(): FetchAttempt {
    const attempt = this.next(this.vxid);
    attempt.madeHere = true;
    attempt.doStream = this.doStream;
    attempt.respEnds = this.respEnds;
    attempt.respTls = this.respTls;
    return attempt;
  }

  /** Whether the head, or a failure, is there already; else `proceed` is called when it is. @param firstByte seconds */
  awaitHead(firstByte: number, proceed: () => void): boolean {
    const { bo } = this;
    const backend = this.backend as Backend;
    const between = bo.betweenBytesTimeout >= 0 ? bo.betweenBytesTimeout : backend.betweenBytesTimeout;
    this.proceed = null;
    this.failure = UNKNOWN;
    (this.connection as OriginConnection).readHead(
      bo.beresp,
      firstByte,
      between,
      this.headCame,
      bo.onInterim,
    );
    if (this.failure !== UNKNOWN) return true;
    this.proceed = proceed;
    return false;
  }

  private readonly headCame = (failure: OriginFailure | null): void => {
    this.failure = failure;
    const { proceed } = this;
    if (proceed === null) return;
    const { beresp, stored } = this.bo;
    proceed();
    // Their bytes lie in the read buffer, which others are about to use.
    beresp.raw = null;
    stored.raw = null;
  };

  /** Ends what the program has no use for. Only an answer without a body to throw away leaves the connection usable. */
  giveUp(): void {
    const keeps = !this.hasBody;
    if (keeps) this.connection?.readBody(NO_BODY, DISCARD);
    this.end(keeps ? null : 'RESP_CLOSE');
  }

  /** Gives the connection back or closes it, and logs which; `reason` forces a close. */
  end(reason: CloseReason | null): void {
    const { bo, connection } = this;
    if (connection === null) return;
    this.connection = null;
    bo.headBytesOut += connection.bytes.headOut;
    bo.bodyBytesOut += connection.bytes.bodyOut;
    bo.headBytesIn += connection.bytes.headIn;
    bo.bodyBytesIn += connection.bytes.bodyIn;
    const refusal = connection.failure?.refusal ?? '';
    if (refusal !== '') bo.log.put(Tag.Error, refusal);
    if (connection.leniencies.any) {
      bo.log.put(Tag.Notice, `Backend response read leniently: ${connection.leniencies.text}`);
      bo.core.stats.beresp_lenient++;
    }
    const { vclName } = this.backend as Backend;
    if (reason === null && connection.release()) {
      bo.log.putConstant(connection.ends.recordsFor(vclName).close);
      if (bo.log.wants(Tag.BackendReuse)) bo.log.put(Tag.BackendReuse, `${connection.ends.fd} ${vclName}`);
      return;
    }
    if (reason !== null) connection.destroy();
    const why = closeText(reason ?? connection.closeReason, bo.ctx.vcl.changes);
    bo.log.put(Tag.BackendClose, `${connection.ends.fd} ${vclName} close ${why}`);
  }
}
