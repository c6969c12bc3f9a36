// The APIs of an edge network without their sockets: Fast Purge v3 for URLs, cache tags and CP codes, its rate-limit-status,
// and content control. A call is checked for its signature, its size, its syntax and the account's buckets, in this order;
// one bad object fails the whole call. Replies are JSON; errors have the form of RFC 9457.

import type { ServerResponse } from 'node:http';
import { ruleText } from '../eccu-rule.ts';
import {
  type EdgeGridCredentials,
  type SignedParts,
  type Verdict,
  verifyAuthorization,
} from '../providers/edgegrid.ts';
import type { EdgeKind, EdgeNetwork, EdgeType } from '../providers/provider.ts';
import { readEccu, ruleMatches } from './eccu-match.ts';
import { type EdgeCache, hostName } from './edge-cache.ts';
import { type Allowance, type BucketSizes, PurgeBuckets } from './purge-buckets.ts';

export interface ApiRequest extends SignedParts {
  readonly authorization: string | undefined;
}

/** A call with a valid signature. */
export interface ApiCall {
  /** "delete url staging"; "rule" or "poll" for content control, "status" for the limits. */
  readonly what: string;
  readonly objects: readonly (string | number)[];
  readonly body: string;
}

export interface PurgeApiParts {
  readonly credentials: EdgeGridCredentials;
  readonly buckets: BucketSizes;
  readonly cache: EdgeCache;
  /** The network of the cache; calls to the other one clear nothing. */
  readonly network: EdgeNetwork;
  /** The CP code of all cached objects. */
  readonly cpcode: number;
  /** Milliseconds until a content-control request takes effect. */
  readonly ruleDelay: number;
  /** Milliseconds since 1970. */
  now(): number;
  cleared(what: string, objects: ApiCall['objects'], copies: number): void;
}

interface RuleRequest {
  readonly id: number;
  readonly due: number;
  done: boolean;
  work(): void;
}

const MAX_BODY = 50_000;
const PURGE = /^\/ccu\/v3\/(invalidate|delete)\/(url|tag|cpcode)\/(staging|production)$/;
const STATUS = /^\/ccu\/v3\/rate-limit-status\/(url|tag|cpcode)$/;
const CONTENT_CONTROL = /^\/eccu-api\/v1\/requests(?:\/(\d{1,9}))?$/;
const TAG = /^[A-Za-z0-9!#$%'+./^_`|~-]{1,128}$/;
/** Milliseconds after which a nonce is forgotten: its time stamp is then too old to be accepted. */
const NONCE_LIFE = 120_000;
/** Content-control requests that can be polled. */
const MAX_RULES = 1000;

const REFUSALS: Readonly<Record<Exclude<Verdict, 'good'>, readonly [number, string]>> = {
  malformed: [401, 'no EdgeGrid signature'],
  'unknown-client': [401, 'the client or access token is not known'],
  signature: [401, 'the signature does not match'],
  skew: [403, 'the time stamp is more than 30 s off'],
  nonce: [403, 'the nonce was used before'],
};

export class PurgeApi {
  readonly #parts: PurgeApiParts;
  readonly #buckets: PurgeBuckets;
  readonly #nonces = new Map<string, number>();
  readonly #rules: RuleRequest[] = [];
  #ids = 0;

  constructor(parts: PurgeApiParts) {
    this.#parts = parts;
    this.#buckets = new PurgeBuckets(parts.buckets, parts.now());
  }

  /** Parses and authenticates a call; returns it, or the refusal. */
  read(request: ApiRequest): ApiCall | { verdict: Verdict; answer: ApiAnswer } {
    const { authorization, body, path } = request;
    const now = this.#parts.now();
    const verdict = verifyAuthorization(authorization, this.#parts.credentials, request, now, (nonce) =>
      this.#fresh(nonce, now),
    );
    if (verdict !== 'good') {
      const [status, detail] = REFUSALS[verdict];
      return { verdict, answer: problem(status, 'Not authorized', detail) };
    }
    const text = body.toString();
    const [, kind, type, network] = PURGE.exec(path) ?? [];
    if (kind !== undefined)
      return { what: `${kind} ${type} ${network}`, objects: objectsOf(text), body: text };
    const what = path.startsWith('/eccu-api/') ? (request.method === 'GET' ? 'poll' : 'rule') : 'status';
    return { what, objects: what === 'rule' ? [String(parsed(text).metadata)] : [], body: text };
  }

  /** Executes a call. */
  answer(request: ApiRequest, call: ApiCall): ApiAnswer {
    const { method, path } = request;
    const [, kind, type, network] = PURGE.exec(path) ?? [];
    if (kind !== undefined && method === 'POST')
      return this.#purge(kind as EdgeKind, type as Purged, network as EdgeNetwork, call);
    const [, limited] = STATUS.exec(path) ?? [];
    if (limited !== undefined && method === 'POST') {
      const allowance = this.#buckets.status(limited as Purged, this.#parts.now());
      return { status: 200, body: { httpStatus: 200, ...limits(allowance) }, headers: allowance.headers };
    }
    const rules = CONTENT_CONTROL.exec(path);
    if (rules === null) return problem(404, 'Not found', `${method} ${path} is no call of this API`);
    this.settleRules();
    if (method === 'POST' && rules[1] === undefined) return this.#rule(call);
    if (method !== 'GET') return problem(405, 'Method not allowed', `${method} ${path}`);
    if (rules[1] === undefined) return { status: 200, body: { requests: this.#rules.map(shown) } };
    const found = this.#rules.find(({ id }) => id === Number(rules[1]));
    if (found === undefined) return problem(404, 'Not found', `no request ${rules[1]}`);
    return { status: 200, body: shown(found) };
  }

  /** Applies rules that are due. */
  settleRules(): void {
    for (const rule of this.#rules) {
      if (rule.done || rule.due > this.#parts.now()) continue;
      rule.done = true;
      rule.work();
    }
  }

  #fresh(nonce: string, now: number): boolean {
    for (const [old, since] of this.#nonces) {
      if (now - since < NONCE_LIFE) break;
      this.#nonces.delete(old);
    }
    if (this.#nonces.has(nonce)) return false;
    this.#nonces.set(nonce, now);
    return true;
  }

  #purge(kind: EdgeKind, type: Purged, network: EdgeNetwork, call: ApiCall): ApiAnswer {
    const { cache, cleared, now } = this.#parts;
    const { objects, what, body } = call;
    if (Buffer.byteLength(body) > MAX_BODY)
      return problem(413, 'Request too large', `more than ${MAX_BODY} bytes`);
    if (objects.length === 0) return problem(400, 'Bad request', 'no array "objects" with something in it');
    for (const object of objects) {
      const wrong = mistakeIn(type, object);
      if (wrong !== null) return problem(400, 'Bad request', wrong);
    }
    const allowance = this.#buckets.spend(type, objects.length, now());
    if (!allowance.allowed) {
      const size = { rateLimitCurrentRequestSize: objects.length };
      return {
        status: 429,
        body: { title: 'Rate limit exceeded', detail: 'wait', ...limits(allowance), ...size },
        headers: allowance.headers,
      };
    }
    let copies = 0;
    if (network === this.#parts.network) {
      const wanted = new Set(objects.map((object) => subjectOf(type, object)));
      if (type === 'url') copies = cache.clear(kind, ({ host, path }) => wanted.has(`${host}${path}`));
      else if (type === 'tag')
        copies = cache.clear(kind, ({ tags }) => [...tags].some((tag) => wanted.has(tag)));
      else if (wanted.has(String(this.#parts.cpcode))) copies = cache.clear(kind, () => true);
    }
    cleared(what, objects, copies);
    const id = `fake-${++this.#ids}`;
    return {
      status: 201,
      body: { httpStatus: 201, detail: 'Request accepted', estimatedSeconds: 0, purgeId: id, supportId: id },
      headers: allowance.headers,
    };
  }

  #rule(call: ApiCall): ApiAnswer {
    const { cache, cleared, ruleDelay, now } = this.#parts;
    const { metadata, propertyName, propertyType, requestName } = parsed(call.body);
    if (typeof metadata !== 'string' || typeof propertyName !== 'string' || typeof requestName !== 'string')
      return problem(400, 'Bad request', 'propertyName, requestName and metadata must be given');
    if (propertyType !== 'HOST_HEADER' && propertyType !== 'ARL_TOKEN')
      return problem(400, 'Bad request', 'propertyType is HOST_HEADER or ARL_TOKEN');
    const rules = readEccu(metadata);
    if (typeof rules === 'string') return problem(400, 'Bad request', rules);
    const request: RuleRequest = {
      id: ++this.#ids,
      due: now() + ruleDelay,
      done: false,
      work: () => {
        let copies = 0;
        for (const { rule, kind } of rules) copies += cache.clear(kind, (copy) => ruleMatches(rule, copy));
        const texts = rules.map(({ rule, kind }) => `${kind} ${ruleText(rule)}`);
        cleared('rule', texts, copies);
      },
    };
    this.#rules.push(request);
    if (this.#rules.length > MAX_RULES) this.#rules.shift();
    this.settleRules();
    return { status: 201, body: shown(request) };
  }
}

type Purged = Exclude<EdgeType, 'rule'>;

function shown({ id, done }: RuleRequest): { requestId: number; status: string } {
  return { requestId: id, status: done ? 'SUCCEEDED' : 'PENDING' };
}

function limits({ limit, remaining }: Allowance): Record<string, number> {
  return { rateLimit: limit, rateLimitRemaining: remaining };
}

/** An empty object if the text is not a JSON object. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function objectsOf(text: string): readonly (string | number)[] {
  const { objects } = parsed(text);
  return Array.isArray(objects) ? (objects as (string | number)[]) : [];
}

function mistakeIn(type: Purged, object: unknown): string | null {
  const named = JSON.stringify(object);
  if (type === 'cpcode') return Number.isInteger(object) ? null : `${named} is no CP code`;
  if (typeof object !== 'string') return `${named} is no text`;
  if (type === 'tag') return TAG.test(object) ? null : `${named} is no cache tag`;
  return /^https?:\/\/[^/]/i.test(object) && URL.canParse(object) ? null : `${named} is no URL`;
}

/** The key of an object in the cache; independent of the scheme. */
function subjectOf(type: Purged, object: string | number): string {
  if (type !== 'url') return String(object);
  const { host, pathname, search } = new URL(String(object));
  return `${hostName(host)}${pathname}${search}`;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export function answerJson(response: ServerResponse, { status, body, headers = {} }: ApiAnswer): void {
  const type = status >= 400 ? 'application/api-problem+json' : 'application/json';
  const whole = status >= 400 ? { supportId: 'fake', httpStatus: status, ...body } : body;
  response.writeHead(status, { 'Content-Type': type, ...headers });
  response.end(JSON.stringify(whole));
}

/** An error response. */
export function problem(status: number, title: string, detail: string): ApiAnswer {
  return { status, body: { title, detail } };
}
