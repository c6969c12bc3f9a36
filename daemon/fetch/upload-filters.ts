// The filters of a request's body in one exchange: those of req.filters, opened once, since the body can be read only once,
// and those of bereq.filters, opened for each exchange. They adjust the head of bereq and its framing: a body whose length
// they change is sent in chunks.

import { Tag } from '../../protocol/tables/tags.ts';
import type { VclContext } from '../contract/context.ts';
import type { FetchChain } from '../filters/chain.ts';
import { DeliveryChain } from '../filters/chain.ts';
import type { DeliveryFilter } from '../filters/filter.ts';
import { type FilterList, namedUploadFilters } from '../filters/filter-table.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core } from '../transaction/core.ts';
import type { UploadSource } from '../transaction/request-body.ts';
import { openRequestFilters, type RequestFilters } from '../transaction/request-filters.ts';
import type { UploadChain } from './upload.ts';

/** The part of a fetch that its upload's filters depend on. */
interface Uploading {
  readonly core: Core;
  readonly ctx: VclContext;
  readonly log: TxLog;
  readonly bereq: HttpMessage;
  readonly body: UploadSource | null;
  /** bereq.filters. */
  readonly bodyFilters: string | null;
  readonly requestFilters: RequestFilters | null;
  /** Those of req.filters, once they are open, and the length after them, -1 if unknown. */
  requestChain: FetchChain | null;
  filteredLength: number;
}

/** The filters of one attempt. */
export interface UploadFilters {
  /** Those that have something to do. */
  readonly chains: readonly UploadChain[];
  /** Bytes of the body after them, -1 if unknown. */
  readonly length: number;
  /** The client's body cannot be read: a filter of it does not exist. */
  readonly isUnreadable: boolean;
  /** Logs what they did. */
  report(): void;
}

/** The list of bereq.filters, null for none; false after an unknown name, which is logged. */
export function chooseUploadFilters({
  bodyFilters,
  ctx,
  log,
}: Uploading): FilterList<DeliveryFilter> | null | false {
  if (bodyFilters === null || !/\S/.test(bodyFilters)) return null;
  const list = namedUploadFilters(bodyFilters, ctx.vcl.extensions);
  log.putConstant(list.record);
  if (!('unknown' in list)) return list;
  log.put(Tag.Error, list.unknown);
  log.put(Tag.FetchError, 'Failure to push processors');
  return false;
}

/** Opens the filters of a body that is about to be sent. */
export function openUploadFilters(bo: Uploading, list: FilterList<DeliveryFilter> | null): UploadFilters {
  const { requestFilters, bereq, core, log, body } = bo;
  const given = body?.length ?? 0;
  let isUnreadable = false;
  if (requestFilters !== null && bo.requestChain === null && body !== null) {
    bo.requestChain = openRequestFilters(requestFilters, bereq, core);
    isUnreadable = bo.requestChain === null;
    bo.filteredLength = bereq.has('content-length') ? given : -1;
  }
  const { requestChain } = bo;
  const before = requestChain?.works === true ? bo.filteredLength : given;
  const sending =
    list === null || body === null
      ? null
      : new DeliveryChain(
          {
            ...{ head: bereq, log, stats: core.stats, params: core.params, request: bereq },
            ...{ gzipped: true, unpacked: -1, length: before, openPage: null },
          },
          list,
        );
  return {
    chains: [requestChain, sending].filter((chain) => chain?.works === true) as UploadChain[],
    length: sending?.works === true ? sending.length : before,
    isUnreadable,
    report: () => {
      requestChain?.report();
      sending?.report(0, Number.POSITIVE_INFINITY);
    },
  };
}
