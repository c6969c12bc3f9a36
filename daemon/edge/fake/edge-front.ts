// The cache of the fake edge for clients: an HTTP server that forwards misses to the proxy, identifies itself as an
// edge with Via, and adds X-Edge-Cache to its responses. Methods that invalidate are not forwarded: the proxy would
// take them for the operator's, who is on the same machine. Conditions and ranges of a GET are not forwarded either:
// complete responses are fetched and returned.

import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import {
  type EdgeCache,
  type EdgeCopy,
  type EdgeReply,
  edgeLifetime,
  hostName,
  type ReplyFields,
} from './edge-cache.ts';

export type EdgeOutcome = 'hit' | 'miss' | 'revalidated' | 'pass' | 'failed';

export interface ProxyAddress {
  readonly host: string;
  readonly port: number;
}

export interface EdgeFrontParts {
  readonly cache: EdgeCache;
  /** Null while unknown. */
  proxy(): ProxyAddress | null;
  answered(outcome: EdgeOutcome): void;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const VIA = '1.1 edge-fake (edge-fake)';
const HOP = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);
const CONDITIONS = new Set(
  'if-match if-none-match if-modified-since if-unmodified-since if-range range'.split(' '),
);
/** Headers for the edge only. */
const INNER = new Set(['edge-control', 'edge-cache-tag', 'age']);
/** Bytes of a stored body. */
const MAX_BODY = 8 << 20;
/** Milliseconds without a byte from the proxy. */
const TIMEOUT = 60_000;

export class EdgeFront {
  readonly #parts: EdgeFrontParts;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(parts: EdgeFrontParts) {
    this.#parts = parts;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Never rejects. */
  async answer(client: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = client;
    if (!METHODS.has(method) || !url.startsWith('/')) {
      refuse(response, 405, `${method} is not for the edge`);
      return;
    }
    let outcome: EdgeOutcome = 'failed';
    try {
      outcome = await this.#answer(client, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else refuse(response, 502, (error as Error).message);
    }
    this.#parts.answered(outcome);
  }

  async #answer(client: IncomingMessage, response: ServerResponse): Promise<EdgeOutcome> {
    const { cache } = this.#parts;
    const fields = joined(client.headers);
    const subject = { host: hostName(fields.host ?? ''), path: client.url ?? '' };
    const reads = client.method === 'GET';
    const copy = reads || client.method === 'HEAD' ? cache.find(subject, fields) : null;
    if (copy !== null && cache.isFresh(copy)) {
      this.#serve(client, response, copy, 'hit');
      return 'hit';
    }
    const conditions = reads && copy !== null ? conditionsOf(copy.reply.fields) : [];
    const ticket = cache.fetchBegins();
    try {
      const answer = await this.#ask(client, response, conditions);
      if (copy !== null && conditions.length > 0 && answer.statusCode === 304) {
        answer.resume();
        const reply = renewed(copy.reply, answer);
        this.#serve(client, response, cache.keep(ticket, subject, fields, reply), 'revalidated');
        return 'revalidated';
      }
      const whole = { ...headOf(answer), body: Buffer.alloc(0) };
      const keeps = reads && edgeLifetime(whole.status, whole.fields) !== null;
      const outcome = keeps ? 'miss' : 'pass';
      response.writeHead(whole.status, passedBack(whole, outcome, null));
      await pipeline(
        answer,
        async function* (pieces: AsyncIterable<Buffer>) {
          const kept: Buffer[] = [];
          let size = 0;
          for await (const piece of pieces) {
            size += piece.length;
            if (keeps && size <= MAX_BODY) kept.push(piece);
            yield piece;
          }
          // Before the client has the last byte, so that its next request finds the copy.
          const fits = keeps && size <= MAX_BODY;
          if (fits || reads)
            cache.keep(ticket, subject, fields, fits ? { ...whole, body: Buffer.concat(kept) } : NOTHING);
        },
        response,
      );
      return outcome;
    } finally {
      cache.over(ticket);
    }
  }

  #ask(client: IncomingMessage, response: ServerResponse, conditions: string[]): Promise<IncomingMessage> {
    return new Promise((done, failed) => {
      const proxy = this.#parts.proxy();
      if (proxy === null) throw new Error('the edge knows of no proxy yet');
      const asked = request({
        ...proxy,
        agent: this.#agent,
        method: client.method,
        path: client.url,
        headers: [...passedOn(client), ...conditions],
        timeout: TIMEOUT,
      });
      asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
      asked.on('error', failed);
      asked.on('response', done);
      response.on('close', () => asked.destroy());
      client.pipe(asked);
    });
  }

  #serve(client: IncomingMessage, response: ServerResponse, copy: EdgeCopy, outcome: EdgeOutcome): void {
    const { reply } = copy;
    client.resume();
    const headers = passedBack(reply, outcome, this.#parts.cache.age(copy));
    const { etag } = reply.fields;
    if (etag !== undefined && client.headers['if-none-match'] === etag) {
      response.writeHead(304, headers);
      response.end();
      return;
    }
    response.writeHead(reply.status, headers);
    response.end(client.method === 'HEAD' ? undefined : reply.body);
  }
}

/** Without a lifetime: storing it removes the copy that it replaces. */
const NOTHING: EdgeReply = { status: 0, rawHeaders: [], fields: {}, body: Buffer.alloc(0) };

function headOf({ statusCode = 0, rawHeaders, headers }: IncomingMessage): Omit<EdgeReply, 'body'> {
  return { status: statusCode, rawHeaders, fields: joined(headers) };
}

/** A copy updated with the headers of a 304 (RFC 9111, 3.2). */
function renewed(reply: EdgeReply, answer: IncomingMessage): EdgeReply {
  const fresh = new Set(Object.keys(answer.headers));
  const old = pairs(reply.rawHeaders).filter(
    ([name]) => !fresh.has(name.toLowerCase()) && name.toLowerCase() !== 'age',
  );
  const { age: _age, ...former } = reply.fields;
  return {
    ...reply,
    rawHeaders: [
      ...old.flat(),
      ...pairs(answer.rawHeaders)
        .filter(([name]) => name.toLowerCase() !== 'content-length')
        .flat(),
    ],
    fields: { ...former, ...joined(answer.headers), 'content-length': String(reply.body.length) },
  };
}

function conditionsOf({ etag, 'last-modified': modified }: ReplyFields): string[] {
  return [
    ...(etag === undefined ? [] : ['If-None-Match', etag]),
    ...(modified === undefined ? [] : ['If-Modified-Since', modified]),
  ];
}

/** The headers of a request to the proxy. */
function passedOn(client: IncomingMessage): string[] {
  const { via, 'x-forwarded-for': before } = client.headers;
  const drops = new Set(client.method === 'GET' ? CONDITIONS : []);
  const kept = pairs(client.rawHeaders).filter(([name]) => {
    const key = name.toLowerCase();
    return !HOP.has(key) && !drops.has(key) && key !== 'via' && key !== 'x-forwarded-for';
  });
  const from = client.socket.remoteAddress ?? '';
  return [
    ...kept.flat(),
    'Via',
    via === undefined ? VIA : `${via}, ${VIA}`,
    'X-Forwarded-For',
    before === undefined ? from : `${before}, ${from}`,
    ...(client.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']),
  ];
}

/** The headers of a response to the client. */
function passedBack(reply: Omit<EdgeReply, 'body'>, outcome: EdgeOutcome, age: number | null): string[] {
  const kept = pairs(reply.rawHeaders).filter(([name]) => {
    const key = name.toLowerCase();
    return !HOP.has(key) && !INNER.has(key) && key !== 'via';
  });
  const { via, age: received } = reply.fields;
  const seconds = age === null ? received : String(age);
  return [
    ...kept.flat(),
    'Via',
    via === undefined ? VIA : `${via}, ${VIA}`,
    ...(seconds === undefined ? [] : ['Age', seconds]),
    'X-Edge-Cache',
    outcome,
  ];
}

function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] as string, raw[2 * i + 1] as string]);
}

function joined(headers: IncomingMessage['headers']): ReplyFields {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain', 'X-Edge-Cache': 'failed', Connection: 'close' });
  response.end(`${why}\n`);
}
