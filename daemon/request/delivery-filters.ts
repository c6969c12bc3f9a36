// The filters that the body of a response passes, and the fragments that one of them puts into it.

import { Tag } from '../../protocol/tables/tags.ts';
import { fieldIn } from '../cache/head-codec.ts';
import { OF_ESI, OF_GZIPPED, OF_HEAD_ALONE } from '../cache/objcore.ts';
import { DeliveryChain } from '../filters/chain.ts';
import type { DeliveryFilter } from '../filters/filter.ts';
import { type FilterList, namedDeliveryFilters, usualDeliveryFilters } from '../filters/filter-table.ts';
import { parseLength } from '../http1/framing.ts';
import type { Step } from '../transaction/drive.ts';
import type { Request } from '../transaction/request.ts';
import type { PageInDelivery } from '../transaction/request-attempt.ts';
import { PageFragments } from './page-fragments.ts';
import { FINISH } from './request-steps.ts';

/** The filters of this response, or null after an unknown name, which is logged. */
export function chooseFilters(req: Request): FilterList<DeliveryFilter> | null {
  const { log, core } = req;
  const { respFilters } = req.attempt;
  const list =
    respFilters === null
      ? usualDeliveryFilters(req, core.params)
      : namedDeliveryFilters(respFilters, req.ctx.vcl.extensions);
  if (!('unknown' in list)) return list;
  log.putConstant(list.record);
  log.put(Tag.Error, list.unknown);
  log.put(Tag.Error, 'Failure to push processors');
  return null;
}

/**
 * The chain of a body's filters, which mend the head; null where there are none. Logs Filters.
 * @param length of the body before any filter, and `unpacked` after it was unpacked; -1 where they are not known
 */
export function openChain(
  req: Request,
  list: FilterList<DeliveryFilter>,
  length: number,
  unpacked: number,
): DeliveryChain | null {
  const { core, http, resp, log } = req;
  log.putConstant(list.record);
  if (list.filters.length === 0) return null;
  const scope = {
    ...{ request: http, head: resp, log, stats: core.stats, params: core.params },
    ...{ gzipped: isPacked(req), unpacked, length },
    openPage:
      req.attempt.oc !== 0 && core.cache.facts.has(req.attempt.oc, OF_ESI) ? () => openPage(req) : null,
  };
  req.attempt.chain = new DeliveryChain(scope, list);
  return req.attempt.chain;
}

/** Opens the filters of the object's body (attempt.chain), and tells how long it will be; -1 when that is not known.
 * Makes Content-Length true. */
export function openBody(req: Request, list: FilterList<DeliveryFilter>): number {
  const { resp, attempt, core } = req;
  const { facts, reading } = core.cache;
  const { oc } = attempt;
  const isFinished = facts.isFinished(oc);
  const stated = resp.getAll('content-length');
  const declared = stated === null ? -1 : parseLength(stated);
  // The unpacked length is known of what was unpacked to be tested.
  const unpacked = isFinished && facts.has(oc, OF_GZIPPED) ? reading.gunzippedLength(oc) : -1;
  const chain = openChain(req, list, isFinished ? reading.bodyLength(oc) : declared, unpacked);
  const length = chain?.length ?? (isFinished ? reading.bodyLength(oc) : declared);
  if (chain?.isPart === true && length >= 0) {
    // The head has its length.
  } else if (resp.status === 304 || resp.status === 204) {
    resp.unset('content-length');
  } else if (req.isHead && facts.has(oc, OF_HEAD_ALONE)) {
    // It is the origin's, if it gave one (RFC 9110 section 8.6), unless a GET would be answered with another body.
    const unpacks = core.params.http_gzip_support !== 0 && !req.canGzip && isPacked(req);
    if (unpacks) resp.unset('content-encoding');
    if (unpacks || declared < 0) resp.unset('content-length');
  } else if (chain?.works === true) {
    if (length < 0 || declared !== length) resp.unset('content-length');
    if (length >= 0 && declared !== length) resp.add('Content-Length', String(length), 'content-length');
  } else if (!(declared >= 0 && declared === length) && !(req.isHead && attempt.isPass)) {
    if (stated !== null) resp.unset('content-length');
    if (length >= 0) resp.add('Content-Length', String(length), 'content-length');
  }
  return length;
}

/** Whether the stored body says that it is gzip, tested or not. */
export function isPacked({ core, attempt, isStoredGzip }: Request): boolean {
  const { oc } = attempt;
  if (isStoredGzip || oc === 0) return isStoredGzip;
  const { cache } = core;
  return (
    fieldIn(cache.reading.headChunk(oc), cache.reading.headAt(oc), 'content-encoding')?.toLowerCase() ===
    'gzip'
  );
}

/** The page that is delivered, with its fragments. */
export function openPage(req: Request): PageInDelivery {
  req.attempt.page ??= new PageFragments(req);
  return req.attempt.page;
}

/** Goes on with FINISH when no fragment of the page is under way any more. */
export function finishAlone({ attempt }: Request, goOn: (next: Step<Request>) => void): void {
  const { page } = attempt;
  if (page === null) goOn(FINISH);
  else {
    page.close();
    page.over(() => goOn(FINISH));
  }
}
