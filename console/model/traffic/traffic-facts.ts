// The facts that rankings need of a group of the log: of each client request, fragment and fetch, in one pass over the
// records; text is made only where it is counted. A restarted request is one, as the client sent it and as it ended.

import { RecordCursor } from '../../../protocol/log-record.ts';
import type { LogTransaction, RecordFilter } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { lastLookedUp, TAG_HEADERS, type Tagged, withTags } from '../log/looked-up.ts';
import { isFragment, isRestart, livesOf } from '../log/request-group.ts';
import { type Handling, handlingOf, isSettled, marked, printable } from '../log/transaction.ts';

export interface TrafficFacts {
  /** A request of a client, of a page for a fragment, or of the daemon to a backend. */
  kind: 'request' | 'fragment' | 'fetch';
  method: string;
  url: string;
  host: string;
  /** Both as looked up, as a ban compares them: the program may have changed them. */
  lookupUrl: string;
  lookupHost: string;
  client: string;
  /** The first address in X-Forwarded-For. */
  forwarded: string;
  agent: string;
  backend: string;
  /** Of its connection: address:port; '' when unknown. */
  address: string;
  status: number;
  /** Of a fetch that of its request; '' for a fetch in the background. */
  handling: Handling;
  /** The response was synthetic, whatever the lookup found. */
  synthetic: boolean;
  /** Epoch seconds, by the daemon's clock, of its end; 0 when unknown. */
  ended: number;
  /** Seconds until the first byte went out; NaN when unknown. */
  seconds: number;
  /** Body bytes. */
  bytes: number;
  failed: boolean;
  /** The reason of a failed fetch in the words of its first FetchError, perhaps shortened; '' without one. */
  error: string;
  tags: readonly Tagged[];
}

/** The records that the sample requests: those read here, and those that explain why a request was no hit. */
export const SAMPLED_RECORDS: readonly RecordFilter[] = [
  {
    kind: 'include-tags',
    tags: [
      'ReqStart,ReqMethod,ReqURL,ReqHeader,ReqUnset,RespStatus,RespReason,VCL_call,VCL_return,Hit,HitMiss,HitPass',
      'ExpBan,Notice,Timestamp,ReqAcct,Error',
      'BereqMethod,BereqURL,BereqHeader,BereqUnset,BerespStatus,TTL,BackendOpen,BereqAcct,FetchError',
    ].join(','),
  },
  {
    kind: 'include-regex',
    tags: 'BerespHeader',
    regex: `^(?i)(${TAG_HEADERS}|set-cookie|cache-control|surrogate-control|expires|vary):`,
  },
  {
    kind: 'include-regex',
    tags: 'BerespUnset',
    regex: `^(?i)(${TAG_HEADERS}):`,
  },
];

const LONGEST_ERROR = 300;

/** `longestRecord`: bytes at which a record's text may have been cut. */
export function readTraffic(group: readonly LogTransaction[], longestRecord?: number): TrafficFacts[] {
  const out: TrafficFacts[] = [];
  const known = new Set(group.map((tx) => tx.vxid));
  const handled = new Map<number, Handling>();
  for (const tx of group) {
    if (tx.type !== 'request' || (isRestart(tx) && known.has(tx.parent))) continue;
    const all = livesOf(group, tx);
    const lives = all.map((life) => ({ vxid: life.vxid, facts: readTransaction(life) }));
    for (const { vxid, facts } of lives) handled.set(vxid, facts.handling);
    const [first, last] = [lives[0], lives.at(-1)];
    if (first === undefined || last === undefined) continue;
    const { method, url, host, client, forwarded, agent } = first.facts;
    const kind = isFragment(tx) ? 'fragment' : 'request';
    const { url: lookupUrl, host: lookupHost } = lastLookedUp(all);
    const sent = { method, url, host, client, forwarded, agent };
    out.push({ ...last.facts, kind, ...sent, lookupUrl, lookupHost });
  }
  // After all requests: fetches of fragments are in any order.
  for (const tx of group) {
    if (tx.type !== 'bereq') continue;
    const handling = fetchedFor(tx, handled);
    handled.set(tx.vxid, handling);
    out.push({ ...readTransaction(tx, longestRecord), kind: 'fetch', handling });
  }
  return out;
}

/** The handling of the request that a fetch is for; a retry has that of the fetch before it. */
function fetchedFor({ reason, parent }: LogTransaction, handled: ReadonlyMap<number, Handling>): Handling {
  switch (reason) {
    case 'pass':
    case 'pipe':
      return reason;
    case 'bgfetch':
      return '';
    default:
      return handled.get(parent) ?? '';
  }
}

/** The facts of one transaction: of a request one life. */
export function readTransaction({ records }: LogTransaction, longestRecord?: number): TrafficFacts {
  const out: TrafficFacts = {
    kind: 'request',
    method: '',
    url: '',
    host: '',
    lookupUrl: '',
    lookupHost: '',
    client: '',
    forwarded: '',
    agent: '',
    backend: '',
    address: '',
    status: 0,
    handling: '',
    synthetic: false,
    ended: 0,
    seconds: Number.NaN,
    bytes: 0,
    failed: false,
    error: '',
    tags: [],
  };
  let settled = false;
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
        out.handling = marked(out.handling, handlingOf(cursor.text) ?? out.handling, settled);
        if (cursor.text === 'SYNTH') out.synthetic = true;
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
      case Tag.Timestamp: {
        const [event, at, total] = cursor.text.split(' ');
        out.ended = Number(at) || out.ended;
        // Until the first byte goes out: the rest depends on the client's line. After a failure there is no time: the
        // response is made here. Varnish 6 logs only the beginning of a pipe.
        if (event === 'Process:' || (event === 'Beresp:' && !out.failed)) out.seconds = Number(total);
        else if (event === 'Pipe:' && Number.isNaN(out.seconds)) out.seconds = Number(total);
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
        out.error ||= printable(cursor.text).slice(0, LONGEST_ERROR);
        // Without a connection only the error names it.
        if (out.backend === '') out.backend = /^backend (\S+): /.exec(cursor.text)?.[1] ?? '';
        break;
      case Tag.BerespHeader:
      case Tag.BerespUnset:
        out.tags = withTags(out.tags, cursor, longestRecord);
        break;
      default:
    }
  }
  return out;
}

function header(out: TrafficFacts, text: string): void {
  const colon = text.indexOf(':');
  const name = text.slice(0, colon).toLowerCase();
  // As the client sent it: later lines are the program's.
  if (name === 'host') out.host ||= printable(text.slice(colon + 1).trim());
  else if (name === 'x-forwarded-for')
    out.forwarded = printable(
      text
        .slice(colon + 1)
        .split(',', 1)[0]
        ?.trim() ?? '',
    );
  else if (name === 'user-agent') out.agent ||= printable(text.slice(colon + 1).trim());
}
