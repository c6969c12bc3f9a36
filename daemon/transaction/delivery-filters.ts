// What a response's body passes on its way to the client: what resp.filters says, or else what the object and the
// request call for. The order is fixed, gunzip ahead of range: the other way round the parts would be of packed bytes.

import { Tag } from '../../protocol/tables/tags.ts';
import { fieldIn } from '../cache/head-codec.ts';
import { constantRecord, type PreparedRecords } from '../log/tx-log.ts';
import type { Request } from './request.ts';

export interface DeliveryFilters {
  readonly gunzip: boolean;
  readonly range: boolean;
  readonly text: PreparedRecords;
}

const set = (gunzip: boolean, range: boolean, text: string): DeliveryFilters => ({
  gunzip,
  range,
  text: constantRecord(Tag.Filters, text),
});
const NONE = set(false, false, '');
const GUNZIP = set(true, false, ' gunzip');
const RANGE = set(false, true, ' range');
const BOTH = set(true, true, ' gunzip range');

const KNOWN: ReadonlySet<string> = new Set(['gunzip', 'range', 'esi']);

/** As Varnish writes them: each with a blank ahead of it. */
export function usualDeliveryFilters(req: Request): string {
  const { gunzip, range } = usual(req);
  return `${gunzip ? ' gunzip' : ''}${range ? ' range' : ''}`;
}

/** The filters of this response, or null after an unknown name, which is logged. */
export function deliveryFilters(req: Request): DeliveryFilters | null {
  const { respFilters, log } = req;
  if (respFilters === null) return usual(req);
  const names = respFilters.split(' ').filter((name) => name !== '');
  const unknown = names.findIndex((name) => !KNOWN.has(name));
  if (unknown < 0) {
    return set(
      names.includes('gunzip') && isPacked(req),
      names.includes('range') && asksForRange(req),
      respFilters,
    );
  }
  log.put(Tag.Filters, respFilters);
  log.put(Tag.Error, `Filter '...${names.slice(unknown).join(' ')}' not found`);
  log.put(Tag.Error, 'Failure to push processors');
  return null;
}

/** Whether the stored body says that it is packed, tested or not. */
function isPacked({ core, oc }: Request): boolean {
  const { cache } = core;
  if (cache.isGzipped(oc)) return true;
  const coding = fieldIn(cache.headChunk(oc), cache.headAt(oc), 'content-encoding');
  return coding?.toLowerCase() === 'gzip';
}

function usual(req: Request): DeliveryFilters {
  const { core, oc } = req;
  const gunzip = oc !== 0 && core.cache.isGzipped(oc) && core.params.http_gzip_support !== 0 && !req.canGzip;
  if (asksForRange(req)) return gunzip ? BOTH : RANGE;
  return gunzip ? GUNZIP : NONE;
}

/** Whether the request asks for a range of this response at all. */
export function asksForRange(req: Request): boolean {
  const { http, resp, core } = req;
  if (resp.status !== 200 || http.method !== 'GET' || core.params.http_range_support === 0) return false;
  return http.has('range');
}
