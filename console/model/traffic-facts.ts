// What rankings need of one transaction, in one walk over its records; text is made for what is counted only.

import { RecordCursor } from '../../protocol/log-record.ts';
import type { LogTransaction, RecordFilter } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { type Handling, handlingOf, printable } from './transaction.ts';

export interface TrafficFacts {
  method: string;
  url: string;
  host: string;
  client: string;
  agent: string;
  backend: string;
  /** Of the connection to it: address:port; '' when unknown. */
  address: string;
  status: number;
  handling: Handling;
  /** Seconds until the response was on its way out; NaN when unknown. */
  seconds: number;
  /** Body bytes. */
  bytes: number;
  failed: boolean;
  tags: readonly string[];
  tagHeader: string;
}

/** The records that are read here: what the sample asks the daemon for. */
export const SAMPLED_RECORDS: readonly RecordFilter[] = [
  {
    kind: 'include-tags',
    tags: [
      'ReqStart,ReqMethod,ReqURL,RespStatus,VCL_call,HitMiss,HitPass,Timestamp,ReqAcct',
      'BereqURL,BerespStatus,BackendOpen,BereqAcct,FetchError',
    ].join(','),
  },
  { kind: 'include-regex', tags: 'ReqHeader', regex: '^(?i)(host|user-agent):' },
  { kind: 'include-regex', tags: 'BerespHeader', regex: '^(?i)(xkey|surrogate-key|cache-tag|x-cache-tags):' },
];

const TAG_HEADERS = /^(xkey|surrogate-key|cache-tag|x-cache-tags):\s*(.*)$/i;

export function readTraffic({ records }: LogTransaction): TrafficFacts {
  const out: TrafficFacts = {
    method: '',
    url: '',
    host: '',
    client: '',
    agent: '',
    backend: '',
    address: '',
    status: 0,
    handling: '',
    seconds: Number.NaN,
    bytes: 0,
    failed: false,
    tags: [],
    tagHeader: '',
  };
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  const cursor = new RecordCursor(bytes);
  while (cursor.next()) {
    switch (cursor.tag) {
      case Tag.ReqMethod:
        out.method = printable(cursor.text);
        break;
      case Tag.ReqURL:
      case Tag.BereqURL:
        if (out.url === '') out.url = printable(bytes.toString('utf8', cursor.from, cursor.to));
        break;
      case Tag.ReqStart:
        out.client = cursor.text.split(' ', 1)[0] ?? '';
        break;
      case Tag.ReqHeader:
        header(out, cursor.text);
        break;
      case Tag.RespStatus:
      case Tag.BerespStatus:
        out.status = Number.parseInt(cursor.text, 10) || 0;
        break;
      case Tag.VCL_call:
        out.handling = handlingOf(cursor.text) ?? out.handling;
        break;
      case Tag.HitMiss:
        out.handling = 'hitmiss';
        break;
      case Tag.HitPass:
        out.handling = 'hitpass';
        break;
      case Tag.Timestamp: {
        const [event, , total] = cursor.text.split(' ');
        // Until the first byte goes out: the rest depends on the client's line.
        if (event === 'Process:' || event === 'Beresp:') out.seconds = Number(total);
        break;
      }
      case Tag.ReqAcct:
      case Tag.BereqAcct:
        out.bytes = Number(cursor.text.split(' ')[4]) || 0;
        break;
      case Tag.BackendOpen: {
        const [, name = '', address = '', port = '0'] = cursor.text.split(' ');
        out.backend = name;
        // A Unix socket has none: 0.0.0.0 0.
        out.address =
          port === '0' ? '' : address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
        break;
      }
      case Tag.FetchError:
        out.failed = true;
        break;
      case Tag.BerespHeader: {
        const found = TAG_HEADERS.exec(cursor.text);
        if (found === null) break;
        out.tagHeader = found[1] as string;
        out.tags = (found[2] as string)
          .split(/[\s,]+/)
          .filter(Boolean)
          .map(printable);
        break;
      }
      default:
    }
  }
  return out;
}

function header(out: TrafficFacts, text: string): void {
  const colon = text.indexOf(':');
  const name = text.slice(0, colon).toLowerCase();
  if (name === 'host') out.host = printable(text.slice(colon + 1).trim());
  else if (name === 'user-agent') out.agent = printable(text.slice(colon + 1).trim());
}
