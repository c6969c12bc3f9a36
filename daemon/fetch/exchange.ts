// One request to an origin and what has come of it so far; exchange-steps.ts takes it from the choice of a backend to the head
// of the answer.

import type { CloseReason, FetchFailure } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { Backend } from '../backend/backend.ts';
import type { OriginConnection } from '../backend/connection.ts';
import type { InterimCallback } from '../backend/exchange-roles.ts';
import { OriginFailure } from '../backend/origin-failure.ts';
import type { VclContext } from '../contract/context.ts';
import type { DeliveryFilter } from '../filters/filter.ts';
import type { FilterList } from '../filters/filter-table.ts';
import { DISCARD } from '../flow/flow.ts';
import { type BodyFraming, NO_BODY } from '../http1/framing.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core } from '../transaction/core.ts';
import { closeText } from './close-text.ts';
import type { UploadFilters } from './upload-filters.ts';

/** Stands for a head of which nothing has come. */
const UNKNOWN = new OriginFailure('aborted');

/** The parts of a fetch (BusyObj) that an exchange uses. */
interface ExchangeOwner {
  readonly core: Core;
  readonly ctx: VclContext;
  readonly log: TxLog;
  readonly beresp: HttpMessage;
  readonly stored: HttpMessage;
  readonly hasBody: boolean;
  readonly onInterim: InterimCallback | null;
  /** Seconds; negative for the backend's. */
  readonly betweenBytesTimeout: number;
  headBytesOut: number;
  bodyBytesOut: number;
  headBytesIn: number;
  bodyBytesIn: number;
}

/** One request to a backend: the connection it uses at the moment, and what has come of it so far. */
export class Exchange {
  connection: OriginConnection | null = null;
  readonly backend: Backend | null;
  /** The result of acquire(). */
  opened: OriginConnection | OriginFailure | null = null;
  /** The failure of the request's body, and of the answer's head. */
  bodyFailure: FetchFailure | null = null;
  failure: OriginFailure | null = null;
  /** How the request's body is framed; null before the first try. */
  framing: BodyFraming | null = null;
  /** The filters of bereq.filters, and those that the body passes; null before the first try. */
  filterList: FilterList<DeliveryFilter> | null = null;
  filters: UploadFilters | null = null;
  /** All of the request's body was handed over. */
  isBodyWhole = false;
  tries = 0;
  /** How often a fragment ahead of its turn has waited for a connection. */
  waits = 0;
  /** An exception of a callback, for the next step to throw. */
  defect: unknown = null;
  private readonly bo: ExchangeOwner;
  /** Goes on with the fetch; null while it does not wait. */
  private proceed: (() => void) | null = null;

  /** @param backend null before one is chosen */
  constructor(bo: ExchangeOwner, backend: Backend | null) {
    this.bo = bo;
    this.backend = backend;
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
    const keeps = !this.bo.hasBody;
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
