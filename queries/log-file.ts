// A binary log file as the field's -w writes it: a magic, then records back to back. Reads it piece by piece,
// so that its size does not matter; a record cut off at the end is left out.

import { LOG_FILE_MAGIC, RECORD_HEAD, recordSize } from '../protocol/log-record.ts';

/** Collects pieces of a file and hands on whole records. */
export class LogFileDecoder {
  private rest: Buffer = Buffer.alloc(0);
  private started = false;

  /** Whole records among what has come so far; null when this is no log file. */
  push(piece: Uint8Array): Uint8Array | null {
    let b = this.rest.length === 0 ? Buffer.from(piece) : Buffer.concat([this.rest, piece]);
    if (!this.started) {
      if (b.length < LOG_FILE_MAGIC.length) {
        this.rest = b;
        return new Uint8Array(0);
      }
      if (LOG_FILE_MAGIC.some((c, i) => c !== b[i])) return null;
      this.started = true;
      b = b.subarray(LOG_FILE_MAGIC.length);
    }
    let at = 0;
    while (at + RECORD_HEAD <= b.length) {
      const size = recordSize(b, at);
      if (at + size > b.length) break;
      at += size;
    }
    this.rest = Buffer.from(b.subarray(at));
    return b.subarray(0, at);
  }

  /** Whether the magic has been seen. */
  get valid(): boolean {
    return this.started;
  }
}
