// Records about objects and bodies that vsl_mask leaves out by default: ObjProtocol to ObjHeader, and the VfpAcct and
// VdpAcct of those who read a body and write it. Each first looks at the mask: a worker that does not
// log them only pays for reading an array element.

import { Tag } from '../../protocol/tables/tags.ts';
import type { TxLog } from './tx-log.ts';

/** A response head as it is kept; HttpMessage fits. */
interface StoredHead {
  readonly proto: string;
  readonly status: number;
  readonly reason: string;
  readonly lines: readonly string[];
  /** How many of the lines are its own: messages are reused, and lines after these belong to another. */
  readonly n: number;
}

/** Protocol, status, reason and headers as they were stored. */
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

/** How a fetched body was read, by its framing. */
export function logBodyReader(log: TxLog, framing: string, calls: number, bytes: number): void {
  if (!log.wants(Tag.VfpAcct)) return;
  const reader = READERS[framing];
  if (reader !== undefined) log.put(Tag.VfpAcct, `${reader} ${calls + callsForEnd(framing)} ${bytes}`);
}

/** The end of chunks, or its equivalent, is a call of its own without data. */
function callsForEnd(framing: string): number {
  return framing === 'chunked' ? 1 : 0;
}

/** How a request's body was read; of length -1 when it came in chunks. */
export function logRequestBody(
  log: TxLog,
  body: { readonly length: number; readonly received: number; readonly pieces: number },
): void {
  logBodyReader(log, body.length >= 0 ? 'length' : 'chunked', body.pieces, body.received);
}

/** How a delivered body was written to the connection. */
export function logBodyWriter(log: TxLog, calls: number, bytes: number): void {
  log.put(Tag.VdpAcct, `V1B ${calls} ${bytes}`);
}
