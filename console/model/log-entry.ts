// One group of the kept log. Its summary is read from its records when somebody looks at it, and kept then: of twenty
// thousand groups a second a screen shows thirty. What must be found among all of them is looked for in the bytes.

import { payloadLength, RECORD_HEAD, recordSize, recordTag } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { EMPTY_SUMMARY, type Summary, summarise } from './transaction.ts';

/** What an entry takes beside its records, about. */
const OVERHEAD = 320;
const PER_TRANSACTION = 64;
const DIGIT_5 = 0x35;

export class LogEntry {
  readonly seq: number;
  /** The transactions of one group, the outermost first; empty for a gap. */
  readonly transactions: readonly LogTransaction[];
  readonly bytes: number;
  /** A mark instead of data: the daemon restarted, records were lost. */
  gap: string;
  /** Records lost at this mark; 0 for all else. */
  lost = 0;
  private read: Summary | null = null;

  constructor(seq: number, transactions: readonly LogTransaction[], gap: string) {
    this.seq = seq;
    this.transactions = transactions;
    this.gap = gap;
    let bytes = OVERHEAD;
    for (const tx of transactions) bytes += tx.records.byteLength + PER_TRANSACTION;
    this.bytes = bytes;
  }

  /** The group's main request, or what stands in its place. */
  get main(): LogTransaction | undefined {
    const first = this.transactions[0];
    return first === undefined || first.type === 'request'
      ? first
      : (this.transactions.find((tx) => tx.type === 'request') ?? first);
  }

  get summary(): Summary {
    const { main } = this;
    if (this.read === null) this.read = main === undefined ? EMPTY_SUMMARY : summarise(main);
    return this.read;
  }

  /** Why a fetch of the group failed, '' when none did. */
  get fetchError(): string {
    if (this.summary.status < 500) return '';
    for (const tx of this.transactions) {
      if (tx.type !== 'bereq') continue;
      const { error } = summarise(tx);
      if (error !== '') return error;
    }
    return '';
  }

  /** A status from 500 on, or an error in the main request. Walks bytes: to be asked of many. */
  get failed(): boolean {
    if (this.read !== null) return this.read.status >= 500 || this.read.error !== '';
    const records = this.main?.records;
    if (records === undefined) return false;
    let fives = false;
    for (let at = 0; at + RECORD_HEAD <= records.length; at += recordSize(records, at)) {
      const tag = recordTag(records, at);
      if (tag === Tag.FetchError || tag === Tag.Error || tag === Tag.VCL_Error) return true;
      // The last status is the one the client got.
      if (tag === Tag.RespStatus || tag === Tag.BerespStatus) fives = records[at + RECORD_HEAD] === DIGIT_5;
    }
    return fives;
  }

  /** Is this the URL of the main request? `url` in bytes. */
  isUrl(url: Uint8Array): boolean {
    const records = this.main?.records;
    if (records === undefined) return false;
    for (let at = 0; at + RECORD_HEAD <= records.length; at += recordSize(records, at)) {
      const tag = recordTag(records, at);
      if (tag !== Tag.ReqURL && tag !== Tag.BereqURL) continue;
      const from = at + RECORD_HEAD;
      // A text counts its final NUL.
      if (payloadLength(records, at) !== url.length + 1) return false;
      for (let i = 0; i < url.length; i++) if (records[from + i] !== url[i]) return false;
      return true;
    }
    return false;
  }
}

/** The bytes of the first URL of a group's main request; empty when it has none. */
export function urlBytes(entry: LogEntry): Uint8Array {
  const records = entry.main?.records ?? new Uint8Array();
  for (let at = 0; at + RECORD_HEAD <= records.length; at += recordSize(records, at)) {
    const tag = recordTag(records, at);
    if (tag !== Tag.ReqURL && tag !== Tag.BereqURL) continue;
    return records.subarray(at + RECORD_HEAD, at + RECORD_HEAD + Math.max(0, payloadLength(records, at) - 1));
  }
  return new Uint8Array();
}
