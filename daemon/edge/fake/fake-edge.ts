// An edge network on the loopback address, for tests and the demo: its purge API, and its cache in front of a proxy. Its
// clock can be advanced and its API made to fail, by the process that runs it and never over the network.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EdgeGridCredentials } from '../providers/edgegrid.ts';
import type { EdgeNetwork } from '../providers/provider.ts';
import { EdgeCache } from './edge-cache.ts';
import { EdgeFront, type EdgeOutcome, type ProxyAddress } from './edge-front.ts';
import { type ApiCall, type ApiRequest, answerJson, PurgeApi, problem } from './purge-api.ts';
import { ACCOUNT, type BucketSizes } from './purge-buckets.ts';

export interface FakeEdgeOptions {
  readonly credentials: EdgeGridCredentials;
  /** The proxy behind the cache, if already known. */
  readonly proxy?: ProxyAddress | null;
  /** Ports of 127.0.0.1; default is any free one. */
  readonly apiPort?: number;
  readonly cachePort?: number;
  readonly network?: EdgeNetwork;
  readonly cpcode?: number;
  /** Seconds that a request by rule takes. */
  readonly ruleDelay?: number;
  readonly buckets?: BucketSizes;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Called for each purge: the operation ("delete url staging"), its objects, and the number of copies. */
  readonly cleared?: (what: string, objects: readonly (string | number)[], copies: number) => void;
}

/** Bytes read of a call's body: the API refuses more than 50,000. */
const MAX_CALL = 1 << 20;
const MAX_CACHE = 64 << 20;
/** Calls remembered. */
const MAX_CALLS = 10_000;

export class FakeEdge {
  /** Calls with a valid signature, without an injected fault. */
  readonly calls: ApiCall[] = [];
  /** Reasons of calls refused for their signature. */
  readonly refused: string[] = [];
  readonly faults = new FaultScript();
  readonly outcomes: Record<EdgeOutcome, number> = { hit: 0, miss: 0, revalidated: 0, pass: 0, failed: 0 };
  readonly #api: Server;
  readonly #front: Server;
  readonly #cache: EdgeCache;
  readonly #purgeApi: PurgeApi;
  readonly #edge: EdgeFront;
  readonly #now: () => number;
  /** The proxy behind the cache. */
  proxy: ProxyAddress | null;
  #ahead = 0;

  private constructor(options: FakeEdgeOptions) {
    const { now = () => Date.now() } = options;
    this.proxy = options.proxy ?? null;
    this.#now = () => now() + this.#ahead;
    this.#cache = new EdgeCache(this.#now, MAX_CACHE);
    this.#purgeApi = new PurgeApi({
      credentials: options.credentials,
      buckets: options.buckets ?? ACCOUNT,
      cache: this.#cache,
      network: options.network ?? 'staging',
      cpcode: options.cpcode ?? 1,
      ruleDelay: (options.ruleDelay ?? 0) * 1000,
      now: this.#now,
      cleared: options.cleared ?? (() => undefined),
    });
    this.#edge = new EdgeFront({
      cache: this.#cache,
      proxy: () => this.proxy,
      answered: (outcome) => {
        this.outcomes[outcome]++;
      },
    });
    this.#api = createServer((request, response) => this.#called(request, response));
    this.#front = createServer((request, response) => {
      this.#purgeApi.settleRules();
      void this.#edge.answer(request, response);
    });
  }

  static async start(options: FakeEdgeOptions): Promise<FakeEdge> {
    const edge = new FakeEdge(options);
    try {
      await listen(edge.#api, options.apiPort ?? 0);
      await listen(edge.#front, options.cachePort ?? 0);
    } catch (cause) {
      await edge.close();
      throw cause;
    }
    return edge;
  }

  /** The address of the purge API, in the format of purge_host. */
  get apiHost(): string {
    return `127.0.0.1:${portOf(this.#api)}`;
  }

  get cachePort(): number {
    return portOf(this.#front);
  }

  /** Number of cached copies. */
  get copies(): number {
    return this.#cache.size;
  }

  /** Advances the clock. */
  advance(seconds: number): void {
    this.#ahead += seconds * 1000;
    this.#purgeApi.settleRules();
  }

  async close(): Promise<void> {
    this.#edge.close();
    for (const server of [this.#api, this.#front]) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  }

  #called(request: IncomingMessage, response: ServerResponse): void {
    const pieces: Buffer[] = [];
    let size = 0;
    request.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= MAX_CALL) pieces.push(piece);
    });
    request.on('end', () => {
      if (size > MAX_CALL) answerJson(response, problem(413, 'Request too large', `${size} bytes`));
      else this.#answer(request, Buffer.concat(pieces), response);
    });
  }

  #answer({ method = '', url = '', headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const signed: ApiRequest = {
      method,
      scheme: 'http',
      host: headers.host ?? '',
      path: url,
      body,
      authorization: headers.authorization,
    };
    const call = this.#purgeApi.read(signed);
    if ('verdict' in call) {
      this.refused.push(call.verdict);
      answerJson(response, call.answer);
      return;
    }
    if (this.faults.play(response, `${call.what} ${call.objects.join(' ')}`)) return;
    const answer = this.#purgeApi.answer(signed, call);
    if (answer.status < 300 && call.what !== 'poll') this.calls.push(call);
    if (this.calls.length > MAX_CALLS) this.calls.shift();
    answerJson(response, answer);
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', done);
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo | null)?.port ?? 0;
}

export interface Fault {
  /** A status, or one of FAULTS. */
  readonly kind: string;
  /** Number of calls affected; default is one. */
  readonly times?: number;
  /** Only calls whose text ("delete url staging OBJECTS") contains this. */
  readonly where?: string;
}

/** Milliseconds of a slow response. */
const SLOW = 3000;

/** Each ends the call in its own way. */
const FAULTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  hang: () => undefined,
  reset: (response) => void response.socket?.resetAndDestroy(),
  slow: (response) => {
    response.writeHead(201, { 'Content-Type': 'application/json' });
    response.write('{"httpStatus":201,');
    setTimeout(() => response.end('"purgeId":"slow","supportId":"slow"}'), SLOW).unref();
  },
  half: (response) => {
    response.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
    response.write('{"httpStatus":201,"purge');
    setTimeout(() => response.socket?.destroy(), 50).unref();
  },
  odd: (response) => answerJson(response, { status: 201, body: { hello: 'world' } }),
  endless: (response) => void response.end(Buffer.alloc(1 << 20, ' ')),
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not authorized',
  403: 'Forbidden',
  408: 'Request timeout',
  413: 'Request too large',
  429: 'Rate limit exceeded',
};

class FaultScript {
  #faults: { fault: Fault; left: number }[] = [];

  /** The error of an invalid fault; null if it was added. */
  add(fault: Fault): string | null {
    const status = /^[1-5]\d\d$/.test(fault.kind);
    if (!status && !Object.hasOwn(FAULTS, fault.kind))
      return `'${fault.kind}' is no status and none of ${Object.keys(FAULTS).join(', ')}`;
    if (fault.times !== undefined && !(fault.times > 0)) return 'how many times must be 1 or more';
    this.#faults.push({ fault, left: fault.times ?? 1 });
    return null;
  }

  clear(): void {
    this.#faults = [];
  }

  /** Applies the first fault that matches this call; false if there is none. */
  play(response: ServerResponse, call: string): boolean {
    const found = this.#faults.find(({ fault }) => call.includes(fault.where ?? ''));
    if (found === undefined) return false;
    if (--found.left === 0) this.#faults = this.#faults.filter((other) => other !== found);
    const { kind } = found.fault;
    const special = FAULTS[kind];
    if (special !== undefined) {
      special(response);
      return true;
    }
    const status = Number(kind);
    const detail = `a fault that was asked for (${kind})`;
    const limits = status === 429 ? { rateLimit: 1, rateLimitRemaining: 0 } : {};
    answerJson(response, { status, body: { title: TITLES[status] ?? 'Failure', detail, ...limits } });
    return true;
  }
}
