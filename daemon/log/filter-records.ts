// Records about objects and body filters that vsl_mask leaves out by default: ObjProtocol to ObjHeader, VfpAcct
// and VdpAcct. Each first looks at the mask: a worker that does not log them pays a look at an array.

import { Tag } from '../../protocol/tables/tags.ts';
import type { TxLog } from './tx-log.ts';

/** A response head as it is kept; HttpMessage fits. */
interface StoredHead {
  readonly proto: string;
  readonly status: number;
  readonly reason: string;
  readonly lines: readonly string[];
  /** How many of the lines are its own: messages are used again, and what lies behind is another's. */
  readonly n: number;
}

/** Protocol, status, reason and fields as they went into the storage. */
export function logStoredHead(log: TxLog, head: StoredHead): void {
  log.put(Tag.ObjProtocol, head.proto);
  if (log.wants(Tag.ObjStatus)) log.put(Tag.ObjStatus, String(head.status));
  log.put(Tag.ObjReason, head.reason);
  if (!log.wants(Tag.ObjHeader)) return;
  for (let i = 0; i < head.n; i++) log.put(Tag.ObjHeader, head.lines[i] as string);
}

const READERS: Readonly<Record<string, string>> = {
  length: 'V1F_STRAIGHT',
  chunked: 'V1F_CHUNKED',
  eof: 'V1F_EOF',
};

/** What a fetched body passed: the filter, if one was in the way, then the reader of its framing. */
export function logFetchFilters(
  log: TxLog,
  framing: string,
  filter: string,
  calls: { read: number; readBytes: number; filtered: number; filteredBytes: number },
): void {
  if (!log.wants(Tag.VfpAcct)) return;
  const reader = READERS[framing];
  if (reader === undefined) return;
  if (filter !== 'none') log.put(Tag.VfpAcct, `${filter} ${calls.filtered} ${calls.filteredBytes}`);
  log.put(Tag.VfpAcct, `${reader} ${calls.read + callsForEnd(framing)} ${calls.readBytes}`);
}

/** The end of chunks, or what is in its place, is a call of its own that brings nothing. */
function callsForEnd(framing: string): number {
  return framing === 'chunked' ? 1 : 0;
}

/** What a request's body passed; of length -1 when it came in chunks. */
export function logRequestBody(
  log: TxLog,
  body: { readonly length: number; readonly received: number; readonly pieces: number },
): void {
  const framing = body.length >= 0 ? 'length' : 'chunked';
  log.put(Tag.VfpAcct, `${READERS[framing]} ${body.pieces + callsForEnd(framing)} ${body.received}`);
}

/** What a delivered body passed: the cut to a range, then the writer to the connection. */
export function logDelivery(log: TxLog, isPart: boolean, calls: number, bytes: number): void {
  if (bytes === 0) return;
  if (isPart) log.put(Tag.VdpAcct, `range ${calls} ${bytes}`);
  log.put(Tag.VdpAcct, `V1B ${calls} ${bytes}`);
}
