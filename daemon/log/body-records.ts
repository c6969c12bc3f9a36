// Records about objects and bodies, masked by default in vsl_mask: ObjProtocol to ObjHeader, and VfpAcct and VdpAcct of
// the steps that read and write a body. Each function checks the mask first, so that a worker that does not log them
// only pays for reading an array element.

import { Tag } from '../../protocol/tables/tags.ts';
import type { TxLog } from './tx-log.ts';

/** A stored response head; HttpMessage fits. */
interface StoredHead {
  readonly proto: string;
  readonly status: number;
  readonly reason: string;
  readonly lines: readonly string[];
  /** Number of lines in use: messages are reused, and the lines after these belong to another head. */
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

/** Logs how a fetched body was read, by its framing. */
export function logBodyReader(log: TxLog, framing: string, calls: number, bytes: number): void {
  if (!log.wants(Tag.VfpAcct)) return;
  const reader = READERS[framing];
  if (reader !== undefined) log.put(Tag.VfpAcct, `${reader} ${calls + callsForEnd(framing)} ${bytes}`);
}

/** The end of a chunked body, like Varnish's equivalent, is a call of its own without data. */
function callsForEnd(framing: string): number {
  return framing === 'chunked' ? 1 : 0;
}

/** Logs how a request body was read; its length is -1 when it was chunked. */
export function logRequestBody(
  log: TxLog,
  body: { readonly length: number; readonly received: number; readonly pieces: number },
): void {
  logBodyReader(log, body.length >= 0 ? 'length' : 'chunked', body.pieces, body.received);
}

/** Logs how a delivered body was written to the connection. */
export function logBodyWriter(log: TxLog, calls: number, bytes: number): void {
  log.put(Tag.VdpAcct, `V1B ${calls} ${bytes}`);
}
