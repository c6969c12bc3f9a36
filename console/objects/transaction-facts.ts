// Facts of one transaction for its JSON object, collected in one pass over its records. Requests and responses are as
// the other side has seen them: a client's request until the program begins, a request to a backend until it is sent,
// a backend's response until the program sees it, a response to a client to its end.

import { RecordCursor } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { textOf } from '../format/log-json.ts';
import { HeaderList } from './header-list.ts';

/** One of the two messages of a transaction. Absent facts have no record. */
class Message {
  readonly headers = new HeaderList();
  /** Does it have records of a header, so that an empty list is a fact? */
  hasHeaders = false;
  method: string | undefined;
  url: string | undefined;
  proto: string | undefined;
  status: number | undefined;
  reason: string | undefined;
  headBytes: number | undefined;
  bodyBytes: number | undefined;
  /** Records from here on are changes that the other side does not see. */
  closed = false;
  /** The last record was of the protocol: a status now begins another response. */
  begins = false;
}

export interface Peer {
  readonly address: string;
  readonly port: number;
}

export interface TransactionFacts {
  readonly side: 'client' | 'backend';
  readonly id: string;
  readonly req: Message;
  readonly resp: Message;
  handling: Handling | undefined;
  /** The object that was found was still being fetched. */
  streaming: boolean;
  readonly timeline: { name: string; timestamp: number }[];
  vcl: string | undefined;
  client: (Peer & { sock: string }) | undefined;
  backend: (Peer & { name: string; reused: boolean }) | undefined;
  storage: string | undefined;
  readonly errors: string[];
  readonly logs: string[];
  readonly links: { type: string; id: string; reason: string }[];
}

/** How a request or fetch was handled. */
export const HANDLINGS = [
  'hit',
  'miss',
  'pass',
  'pipe',
  'streaming-hit',
  'fail',
  'synth',
  'abandon',
  'fetch',
  'error',
] as const;

export type Handling = (typeof HANDLINGS)[number];

/** Subroutines that decide it; the last one called counts. */
const CALLS: Readonly<Record<string, Handling>> = {
  HIT: 'hit',
  MISS: 'miss',
  PASS: 'pass',
  PIPE: 'pipe',
  SYNTH: 'synth',
  BACKEND_FETCH: 'fetch',
  BACKEND_ERROR: 'error',
};

/** Actions that decide it, whatever is called after them. */
const RETURNS: Readonly<Record<string, Handling>> = { pipe: 'pipe', fail: 'fail', abandon: 'abandon' };

/** The facts of a request or fetch; null for anything else. */
export function factsOf(tx: LogTransaction): TransactionFacts | null {
  if (tx.type !== 'request' && tx.type !== 'bereq') return null;
  const facts: TransactionFacts = {
    side: tx.type === 'request' ? 'client' : 'backend',
    id: String(tx.vxid),
    req: new Message(),
    resp: new Message(),
    handling: undefined,
    streaming: false,
    timeline: [],
    vcl: undefined,
    client: undefined,
    backend: undefined,
    storage: undefined,
    errors: [],
    logs: [],
    links: [],
  };
  const cursor = new RecordCursor(tx.records);
  while (cursor.next()) TAKERS.get(cursor.tag)?.(facts, textOf(cursor.text));
  if (facts.handling === 'hit' && facts.streaming) facts.handling = 'streaming-hit';
  return facts;
}

type Taker = (facts: TransactionFacts, text: string) => void;

/** The facts that each tag contributes. */
const TAKERS: ReadonlyMap<number, Taker> = new Map<number, Taker>([
  [
    Tag.ReqMethod,
    inRequest((req, text) => {
      req.method = text;
    }),
  ],
  [
    Tag.BereqMethod,
    inRequest((req, text) => {
      req.method = text;
    }),
  ],
  [
    Tag.ReqURL,
    inRequest((req, text) => {
      req.url = text;
    }),
  ],
  [
    Tag.BereqURL,
    inRequest((req, text) => {
      req.url = text;
    }),
  ],
  [
    Tag.ReqProtocol,
    inRequest((req, text) => {
      req.proto = text;
    }),
  ],
  [
    Tag.BereqProtocol,
    inRequest((req, text) => {
      req.proto = text;
    }),
  ],
  [Tag.ReqHeader, inRequest(addHeader)],
  [Tag.BereqHeader, inRequest(addHeader)],
  [Tag.ReqUnset, inRequest(removeHeader)],
  [Tag.BereqUnset, inRequest(removeHeader)],
  [Tag.RespProtocol, inResponse(setProtocol)],
  [Tag.BerespProtocol, inResponse(setBackendProtocol)],
  [Tag.RespStatus, inResponse(setStatus)],
  [Tag.BerespStatus, inResponse(setStatus)],
  [
    Tag.RespReason,
    inResponse((resp, text) => {
      resp.reason = text;
    }),
  ],
  [
    Tag.BerespReason,
    inResponse((resp, text) => {
      resp.reason = text;
    }),
  ],
  [Tag.RespHeader, inResponse(addHeader)],
  [Tag.BerespHeader, inResponse(addHeader)],
  [Tag.RespUnset, inResponse(removeHeader)],
  [Tag.BerespUnset, inResponse(removeHeader)],
  [Tag.ReqAcct, account],
  [Tag.BereqAcct, account],
  [Tag.PipeAcct, pipeAccount],
  [Tag.Timestamp, timestamp],
  [Tag.Hit, hit],
  [Tag.VCL_call, called],
  [
    Tag.VCL_return,
    (facts, text) => {
      facts.handling = RETURNS[text] ?? facts.handling;
    },
  ],
  [
    Tag.VCL_use,
    (facts, text) => {
      facts.vcl = text;
    },
  ],
  [Tag.ReqStart, reqStart],
  [Tag.BackendOpen, backendOpen],
  [
    Tag.Storage,
    (facts, text) => {
      facts.storage = text;
    },
  ],
  [Tag.Error, error],
  [Tag.VCL_Error, error],
  [Tag.FetchError, error],
  [Tag.VSL, error],
  [Tag.VCL_Log, (facts, text) => void facts.logs.push(text)],
  [Tag.Link, link],
]);

function inRequest(take: (req: Message, text: string) => void): Taker {
  return ({ req }, text) => {
    if (!req.closed) take(req, text);
  };
}

function inResponse(take: (resp: Message, text: string) => void): Taker {
  return ({ resp }, text) => {
    if (!resp.closed) take(resp, text);
  };
}

function addHeader(message: Message, text: string): void {
  message.begins = false;
  message.headers.add(text);
  message.hasHeaders = true;
}

function removeHeader(message: Message, text: string): void {
  message.headers.remove(text);
  message.hasHeaders = true;
}

function setProtocol(resp: Message, text: string): void {
  resp.proto = text;
  resp.begins = true;
}

/** A second head is the one that is stored after a 304, or made for vcl_backend_error: no backend sent it. */
function setBackendProtocol(resp: Message, text: string): void {
  if (resp.status === undefined) resp.proto = text;
  else resp.closed = true;
}

/** The status of a response that takes the place of another, as vcl_synth makes it, begins a new head. */
function setStatus(resp: Message, text: string): void {
  if (resp.begins) resp.headers.clear();
  resp.begins = false;
  resp.status = integer(text);
}

function account({ req, resp }: TransactionFacts, text: string): void {
  const [reqHead, reqBody, , respHead, respBody] = fields(text).map(integer);
  req.headBytes = reqHead;
  req.bodyBytes = reqBody;
  resp.headBytes = respHead;
  resp.bodyBytes = respBody;
}

/** Of a tunnel there are the head of the request, and the bytes of both directions. */
function pipeAccount({ req, resp }: TransactionFacts, text: string): void {
  const [head, , received, sent] = fields(text).map(integer);
  req.headBytes = head;
  req.bodyBytes = received;
  resp.headBytes = 0;
  resp.bodyBytes = sent;
}

function timestamp(facts: TransactionFacts, text: string): void {
  const colon = text.indexOf(':');
  if (colon < 0) return;
  const name = text.slice(0, colon);
  facts.timeline.push({ name, timestamp: number(fields(text.slice(colon + 1))[0]) });
  if (name === 'Bereq') facts.req.closed = true;
}

/** A hit on an object that is still being fetched has the bytes that are there as a fifth field. */
function hit(facts: TransactionFacts, text: string): void {
  facts.streaming = fields(text).length > 4;
}

function called(facts: TransactionFacts, text: string): void {
  const { req, resp, side } = facts;
  if (side === 'client') {
    req.closed = true;
    if (text === 'RECV') facts.handling = undefined;
  } else if (text !== 'BACKEND_FETCH') {
    req.closed = true;
    if (text === 'BACKEND_RESPONSE') resp.closed = true;
  }
  // After return (fail) comes vcl_synth, which does not change what happened.
  if (facts.handling !== 'fail' && facts.handling !== 'abandon') {
    facts.handling = CALLS[text] ?? facts.handling;
  }
}

function reqStart(facts: TransactionFacts, text: string): void {
  const [address = '', port, sock = ''] = fields(text);
  facts.client = { address, port: integer(port), sock };
}

/** `fd name address port local-address local-port connect|reuse`; the last one is missing in older logs. */
function backendOpen(facts: TransactionFacts, text: string): void {
  const [, name = '', address = '', port, , , how] = fields(text);
  facts.backend = { name: directorName(name), address, port: integer(port), reused: how === 'reuse' };
}

/** Backends made at run time have their address and settings in parentheses behind the director's name, and a number. */
function directorName(name: string): string {
  const cut = name.indexOf('(');
  return cut <= 0 ? name : name.slice(0, cut).replace(/(\.[0-9a-f]{8})?\.?$/, '');
}

function error(facts: TransactionFacts, text: string): void {
  facts.errors.push(text);
}

function link(facts: TransactionFacts, text: string): void {
  const [type = '', id = '', reason = ''] = fields(text);
  facts.links.push({ type, id, reason });
}

function fields(text: string): string[] {
  return text.split(/[ \t]+/).filter((part) => part !== '');
}

function number(text: string | undefined): number {
  const value = Number(text ?? 0);
  return Number.isFinite(value) ? value : 0;
}

function integer(text: string | undefined): number {
  return Math.trunc(number(text));
}
