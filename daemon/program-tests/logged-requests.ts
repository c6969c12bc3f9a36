// The requests that the log still holds, with what their origins answered: as they came, before a program changed them.

import { RecordCursor, recordText } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { Grouper } from '../../queries/group.ts';
import { RingReader } from '../log/ring-reader.ts';

export interface LoggedHead {
  /** Method and URL of a request; status and reason of a response. */
  readonly first: string;
  readonly second: string;
  /** `Name: value`, in their order. */
  readonly fields: readonly string[];
}

export interface LoggedRequest {
  readonly vxid: number;
  /** Epoch seconds. */
  readonly at: number;
  readonly client: string;
  /** `HTTP/1.1`, `HTTP/2.0`, … */
  readonly protocol: string;
  readonly request: LoggedHead;
  /** Of the fetch that this request has begun; null without one. */
  readonly response: LoggedHead | null;
}

interface Head {
  first: string;
  second: string;
  fields: string[];
}

/** Reads a head up to the first call of the program. */
class HeadReader {
  readonly head: Head = { first: '', second: '', fields: [] };
  isDone = false;

  field(text: string): void {
    if (!this.isDone) this.head.fields.push(text);
  }
}

function readRequest({ vxid, records }: LogTransaction): Omit<LoggedRequest, 'response'> | null {
  const reader = new HeadReader();
  const cursor = new RecordCursor(records);
  let [at, client, protocol] = [0, '', ''];
  while (cursor.next() && !reader.isDone) {
    const text = recordText(records, cursor.at);
    if (cursor.tag === Tag.ReqStart) client = text.split(' ', 1)[0] as string;
    else if (cursor.tag === Tag.ReqMethod) reader.head.first = text;
    else if (cursor.tag === Tag.ReqURL) reader.head.second = text;
    else if (cursor.tag === Tag.ReqProtocol) protocol = text;
    else if (cursor.tag === Tag.ReqHeader) reader.field(text);
    else if (cursor.tag === Tag.Timestamp && at === 0) at = Number(text.split(' ')[1]);
    else if (cursor.tag === Tag.VCL_call) reader.isDone = true;
  }
  return reader.head.first === '' ? null : { vxid, at, client, protocol, request: reader.head };
}

/** The first response of a fetch, as it came. */
function readResponse({ records }: LogTransaction): LoggedHead | null {
  const reader = new HeadReader();
  const cursor = new RecordCursor(records);
  while (cursor.next() && !reader.isDone) {
    const text = recordText(records, cursor.at);
    if (cursor.tag === Tag.BerespStatus) reader.head.first = text;
    else if (cursor.tag === Tag.BerespReason) reader.head.second = text;
    else if (cursor.tag === Tag.BerespHeader) reader.field(text);
    // The first call after a response began.
    else if (cursor.tag === Tag.VCL_call && reader.head.first !== '') reader.isDone = true;
  }
  return reader.head.first === '' ? null : reader.head;
}

/**
 * The last requests in the log, oldest first. Requests that a program has begun (restarts, fragments) are left out.
 * @param most requests
 */
export function loggedRequests(ring: string, most: number): LoggedRequest[] {
  const reader = RingReader.open(ring, 'head');
  if (reader === null) return [];
  const all: LoggedRequest[] = [];
  const grouper = new Grouper({ grouping: 'request' }, (group) => {
    const [root] = group;
    if (root?.type !== 'request' || root.reason !== 'rxreq') return;
    const request = readRequest(root);
    if (request === null) return;
    const fetch = group.find(({ type, parent }) => type === 'bereq' && parent === root.vxid);
    all.push({ ...request, response: fetch === undefined ? null : readResponse(fetch) });
    if (all.length > 2 * most) all.splice(0, all.length - most);
  });
  try {
    for (let read = reader.read(); read !== null && read.blocks.length > 0; read = reader.read())
      for (const { records } of read.blocks) grouper.push(Uint8Array.from(records), 0);
  } finally {
    reader.close();
  }
  return all.slice(-most);
}
