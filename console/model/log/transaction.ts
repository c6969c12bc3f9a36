// One transaction of the log for the screens: a summary read in one pass, and the records as text on demand. No decoded
// text is kept: a hundred thousand transactions stay bytes.

import { RecordCursor, type RecordSide } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag, tagRow } from '../../../protocol/tables/tags.ts';

export interface LogRecord {
  tag: number;
  name: string;
  vxid: number;
  side: RecordSide;
  /** Payload without its NUL, control bytes as %xx. */
  text: string;
}

/** How the cache treated a request: from its VCL_call records. */
export type Handling = 'hit' | 'miss' | 'pass' | 'pipe' | 'synth' | 'purge' | 'hitmiss' | 'hitpass' | '';

/** A miss as cache_miss counts it: a fetch after a lookup, also by a hit-for-miss marker. */
export function isMiss(handling: Handling): boolean {
  return handling === 'miss' || handling === 'hitmiss';
}

/** A pass as s_pass counts it: by the program, or by a hit-for-pass marker. */
export function isPass(handling: Handling): boolean {
  return handling === 'pass' || handling === 'hitpass';
}

export interface Summary {
  method: string;
  url: string;
  status: number;
  handling: Handling;
  /** Seconds since the request began until its last timestamp; NaN when unknown. */
  seconds: number;
  /** Epoch seconds of the Start timestamp; 0 when unknown. */
  at: number;
  /** Body bytes sent to the client, or received from the backend. */
  body: number;
  /** Text of FetchError or Error, if any. */
  error: string;
}

export function decodeRecords(records: Uint8Array): LogRecord[] {
  const out: LogRecord[] = [];
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  const cursor = new RecordCursor(bytes);
  while (cursor.next()) {
    const { tag, vxid, side, from, to } = cursor;
    out.push({
      tag,
      name: tagRow(tag)?.name ?? `#${tag}`,
      vxid,
      side,
      text: printable(bytes.toString('utf8', from, to)),
    });
  }
  return out;
}

/** Makes untrusted text safe for a terminal: control characters and broken UTF-8 as %xx. */
export function printable(text: string): string {
  if (!/[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]/.test(text)) return text;
  return text.replace(/[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]/g, (c) => {
    const code = c.charCodeAt(0);
    return code > 0xff ? '·' : `%${code.toString(16).padStart(2, '0')}`;
  });
}

export const EMPTY_SUMMARY: Summary = {
  method: '',
  url: '',
  status: 0,
  handling: '',
  seconds: Number.NaN,
  at: 0,
  body: 0,
  error: '',
};

/** Reads the records of one transaction; later records win, but method and URL are those the client sent. */
export function summarise(tx: LogTransaction): Summary {
  const out: Summary = { ...EMPTY_SUMMARY };
  let settled = false;
  const { records } = tx;
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  const cursor = new RecordCursor(bytes);
  while (cursor.next()) {
    switch (cursor.tag) {
      case Tag.ReqMethod:
        if (out.method === '') out.method = printable(bytes.toString('utf8', cursor.from, cursor.to));
        break;
      case Tag.BereqMethod:
        out.method = printable(bytes.toString('utf8', cursor.from, cursor.to));
        break;
      case Tag.ReqURL:
        if (out.url === '') out.url = printable(bytes.toString('utf8', cursor.from, cursor.to));
        break;
      case Tag.BereqURL:
        out.url = printable(bytes.toString('utf8', cursor.from, cursor.to));
        break;
      case Tag.RespStatus:
      case Tag.BerespStatus:
        out.status = Number.parseInt(cursor.text, 10) || 0;
        break;
      case Tag.VCL_call:
        out.handling = marked(out.handling, handlingOf(cursor.text) ?? out.handling, settled);
        break;
      case Tag.VCL_return:
        settled ||= isSettled(cursor.text);
        break;
      case Tag.HitMiss:
        out.handling = 'hitmiss';
        break;
      case Tag.HitPass:
        out.handling = 'hitpass';
        break;
      case Tag.FetchError:
      case Tag.Error:
      case Tag.VCL_Error:
        if (out.error === '') out.error = printable(bytes.toString('utf8', cursor.from, cursor.to));
        break;
      case Tag.Timestamp: {
        const [event, at, total] = cursor.text.split(' ');
        if (event === 'Start:') out.at = Number(at);
        out.seconds = Number(total);
        break;
      }
      case Tag.ReqAcct:
      case Tag.BereqAcct: {
        const fields = cursor.text.split(' ');
        out.body = Number(fields[4]) || 0;
        break;
      }
      default:
    }
  }
  return out;
}

/** Whether vcl_hit, vcl_miss or vcl_pass accepted the result of the lookup: a response made here later, after a
 * failed fetch or by vcl_deliver, leaves the request a miss, and it is counted as one. */
export function isSettled(returned: string): boolean {
  return returned === 'fetch' || returned === 'deliver';
}

/** A marker found by the lookup is more specific than the state it leads to. */
export function marked(before: Handling, now: Handling, settled: boolean): Handling {
  const same = (before === 'hitmiss' && now === 'miss') || (before === 'hitpass' && now === 'pass');
  return same || (settled && now === 'synth' && before !== '') ? before : now;
}

export function handlingOf(state: string): Handling | undefined {
  switch (state) {
    case 'HIT':
      return 'hit';
    case 'MISS':
      return 'miss';
    case 'PASS':
      return 'pass';
    case 'PIPE':
      return 'pipe';
    case 'SYNTH':
      return 'synth';
    case 'PURGE':
      return 'purge';
    default:
      return undefined;
  }
}
