// req.filters: the body of a request passes them as it is read, into storage or straight to an origin. They belong to the
// request, whose log tells of them, wherever the bytes go.

import { Tag } from '../../protocol/tables/tags.ts';
import { FetchChain } from '../filters/chain.ts';
import { namedRequestFilters } from '../filters/filter-table.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core, ProgramRef } from './core.ts';

/** The filters that a program has named for the body of a request. */
export interface RequestFilters {
  readonly text: string;
  readonly programRef: ProgramRef;
  /** Of the request. */
  readonly log: TxLog;
}

/**
 * Opens them, and mends a head.
 * @param head that goes with the body
 * @returns null after an unknown name, which is logged
 */
export function openRequestFilters(
  { text, programRef, log }: RequestFilters,
  head: HttpMessage,
  core: Core,
): FetchChain | null {
  const list = namedRequestFilters(text, programRef.program.extensions);
  log.putConstant(list.record);
  if ('unknown' in list) {
    log.put(Tag.FetchError, list.unknown);
    return null;
  }
  return new FetchChain(
    {
      ...{ head, log, stats: core.stats, params: core.params },
      ...{ request: head, esiColon: false, esiFeatures: core.esi },
    },
    list,
  );
}
