// The binary frame of log transactions of one subscription, all numbers little-endian: u32 subscription, u32 number
// of transactions, then each: u8 level, u8 type (bit 7: first of its group), u16 bytes of reason, u32 vxid, u32
// parent, u32 bytes of records, the reason in UTF-8 padded to 4, the records (log-record.ts; always a multiple of 4).
// A group is a transaction with that bit and those up to the next one. Decoding checks everything: a length beyond
// the frame is an error. Decoded records are views of the frame.

import type { LogTransaction } from './messages.ts';

const FRAME_HEAD = 8;
const TRANSACTION_HEAD = 16;
const FIRST = 0x80;
/** Type numbers on the wire. */
const TYPES = ['raw', 'session', 'request', 'bereq', 'unknown'] as const;

/** Maximum bytes of a transaction in a frame. */
export function transactionSize(tx: LogTransaction): number {
  return TRANSACTION_HEAD + tx.reason.length * 3 + 4 + tx.records.length;
}

export function encodeLogFrame(subscription: number, transactions: readonly LogTransaction[]): Uint8Array {
  let size = FRAME_HEAD;
  for (const tx of transactions) size += transactionSize(tx);
  const out = Buffer.allocUnsafe(size);
  out.writeUInt32LE(subscription, 0);
  out.writeUInt32LE(transactions.length, 4);
  let at = FRAME_HEAD;
  for (const tx of transactions) {
    out[at] = Math.min(tx.level, 255);
    out[at + 1] = TYPES.indexOf(tx.type) | (tx.first === true ? FIRST : 0);
    const reason = out.write(tx.reason, at + TRANSACTION_HEAD, 'utf8');
    out.writeUInt16LE(reason, at + 2);
    out.writeUInt32LE(tx.vxid, at + 4);
    out.writeUInt32LE(tx.parent, at + 8);
    out.writeUInt32LE(tx.records.length, at + 12);
    at += TRANSACTION_HEAD;
    const padded = (reason + 3) & ~3;
    out.fill(0, at + reason, at + padded);
    at += padded;
    out.set(tx.records, at);
    at += tx.records.length;
  }
  return out.subarray(0, at);
}

export interface LogFrame {
  subscription: number;
  transactions: LogTransaction[];
}

/** Null if the bytes are not such a frame. */
export function decodeLogFrame(frame: Uint8Array): LogFrame | null {
  if (frame.length < FRAME_HEAD) return null;
  const buf = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  const subscription = buf.readUInt32LE(0);
  const count = buf.readUInt32LE(4);
  const transactions: LogTransaction[] = [];
  let at = FRAME_HEAD;
  for (let i = 0; i < count; i++) {
    if (at + TRANSACTION_HEAD > buf.length) return null;
    const level = buf[at] as number;
    const first = ((buf[at + 1] as number) & FIRST) !== 0;
    const type = TYPES[(buf[at + 1] as number) & ~FIRST];
    const reasonBytes = buf.readUInt16LE(at + 2);
    const vxid = buf.readUInt32LE(at + 4);
    const parent = buf.readUInt32LE(at + 8);
    const bytes = buf.readUInt32LE(at + 12);
    at += TRANSACTION_HEAD;
    const from = at + ((reasonBytes + 3) & ~3);
    if (type === undefined || from + bytes > buf.length) return null;
    const reason = buf.toString('utf8', at, at + reasonBytes);
    transactions.push({
      level,
      type,
      first,
      reason,
      vxid,
      parent,
      records: frame.subarray(from, from + bytes),
    });
    at = from + bytes;
  }
  return at === buf.length ? { subscription, transactions } : null;
}
