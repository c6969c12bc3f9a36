// The request and the fetch that a test of a program plays with, without connections. A state sees what it would see in the proxy: a
// client's state no fetch, a fetch's no request. Between states the test sees both. What follows from something else is made when it is
// first used: bereq from req, the object from beresp, resp from the object.

import { RETURNS } from '../../protocol/tables/returns.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type {
  VclBusyobj,
  VclContext,
  VclObject,
  VclProgram,
  VclRequest,
  VclSession,
} from '../contract/context.ts';
import { VclFailure } from '../contract/failure.ts';
import { State, type StateName } from '../contract/program.ts';
import { TrialLog, trialContext, trialFetch, trialRequest } from '../extensions/author/trial-task.ts';
import { lifetime } from '../fetch/lifetime.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { HotParams } from '../transaction/core.ts';
import { runState, runWaitingState } from '../vcl/runtime/run-state.ts';
import type { SubValue } from '../vcl/runtime/sub-value.ts';

/** Facts of the object, as `test.object()` sets them. Times in seconds. */
export interface ObjectFacts {
  hits: number;
  age: number;
}

/** Lifetimes of a response without cache headers, in seconds; the defaults of the parameters. */
const LIVES = { default_ttl: 120, default_grace: 10, default_keep: 0, clock_skew: 10 } as HotParams;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function isOfFetch(state: StateName): boolean {
  return state.startsWith('backend_');
}

function pushAll(head: HttpMessage, fields: readonly string[]): void {
  for (const line of fields) head.push((line.split(':', 1)[0] as string).toLowerCase(), line);
}

export class TrialStage {
  readonly ctx: VclContext;
  readonly log = new TrialLog();
  readonly object: ObjectFacts = { hits: 0, age: 0 };
  /** Why the last state failed; null if it did not. */
  failure: string | null = null;
  readonly #program: VclProgram;
  readonly #request: Writable<VclRequest>;
  readonly #session: Writable<VclSession>;
  #fetch: Writable<VclBusyobj> | null = null;
  /** Null: the test itself looks, and sees both sides. */
  #side: 'client' | 'fetch' | null = null;
  #objectHttp: HttpMessage | null = null;
  #response: HttpMessage;
  #responseIsMade = false;

  constructor(program: VclProgram, base: (log: TrialLog) => VclContext) {
    this.#program = program;
    this.ctx = base(this.log);
    this.#request = trialRequest(this.ctx, { url: '/', headers: {} });
    this.#session = { ...this.#request.session };
    this.#request.session = this.#session;
    this.#response = this.#request.resp;
    Object.defineProperties(this.#request, {
      resp: { get: () => this.#resp() },
      obj: { get: () => this.#obj() },
    });
    Object.defineProperties(this.ctx, {
      req: { get: () => (this.#side === 'fetch' ? null : this.#request) },
      bo: { get: () => (this.#side === 'client' ? null : this.#fetching()) },
    });
  }

  /** The fetch of this request: made from it, without what belongs to the client's connection. */
  #fetching(): Writable<VclBusyobj> {
    if (this.#fetch !== null) return this.#fetch;
    const side = this.#side;
    this.#side = 'client';
    const fetch: Writable<VclBusyobj> = trialFetch(this.ctx, { url: '/', headers: {} });
    this.#side = side;
    fetch.bereq.copyFrom(this.#request.http);
    // As a cacheable fetch asks.
    if (!this.#isPassed) fetch.bereq.setMethod('GET');
    fetch.backend = this.#request.settings.backendHint ?? this.#program.defaultDirector;
    fetch.session = this.#session;
    fetch.clientIdentity = this.#request.settings.clientIdentity;
    this.#fetch = fetch;
    return fetch;
  }

  #isPassed = false;

  #objectHead(): HttpMessage {
    if (this.#objectHttp === null) {
      this.#objectHttp = trialRequest(this.ctx, { url: '/', headers: {} }).resp;
      this.#objectHttp.copyFrom(this.#fetching().beresp);
    }
    return this.#objectHttp;
  }

  #obj(): VclObject {
    const { ttl, grace, keep, uncacheable, storage, attempt } = this.#fetching();
    const { hits, age } = this.object;
    const storageName = storage ?? 's0';
    return {
      http: this.#objectHead(),
      hits,
      age,
      ttl: ttl - age,
      grace,
      keep,
      uncacheable,
      storageName,
      canEsi: attempt.doEsi,
    };
  }

  #resp(): HttpMessage {
    if (!this.#responseIsMade) {
      this.#responseIsMade = true;
      this.#response.copyFrom(this.#objectHead());
    }
    return this.#response;
  }

  /** A response of the proxy's own: of vcl_synth, and of vcl_backend_error. */
  #ownResponse(head: HttpMessage, status: number, reason: string): void {
    head.reset();
    head.proto = 'HTTP/1.1';
    head.status = status % 1000;
    head.reason = reason;
    head.log = this.log;
  }

  #prepare(state: StateName): void {
    const { ctx } = this;
    if (state === 'pass' || state === 'pipe') this.#isPassed = true;
    if (state === 'hash') (this.#request.attempt as Writable<VclRequest['attempt']>).hashKey = '';
    const [status, reason] = [ctx.synthStatus, ctx.synthReason];
    if (state === 'synth') {
      this.#responseIsMade = true;
      this.#ownResponse(this.#response, status || 200, reason || 'OK');
    }
    if (state === 'backend_error')
      this.#ownResponse(this.#fetching().beresp, status || 503, reason || 'Backend fetch failed');
    if (state === 'backend_response') this.#setLifetime();
    if (state === 'deliver') this.#resp();
  }

  /** Lifetimes that the response asks for, unless the test has set one. */
  #setLifetime(): void {
    const fetch = this.#fetching();
    const { ttl, grace } = lifetime(fetch.beresp, this.ctx.now, LIVES);
    if (fetch.ttl === LIVES.default_ttl) fetch.ttl = ttl;
    if (fetch.grace === LIVES.default_grace) fetch.grace = grace;
  }

  /** Runs a state as the proxy would, the builtin program included. Returns its action. */
  run(state: StateName): string {
    const { ctx } = this;
    this.#prepare(state);
    const before = { side: this.#side, state: ctx.state };
    this.#side = isOfFetch(state) ? 'fetch' : 'client';
    try {
      const code = this.#code(state);
      this.failure = ctx.failure;
      return RETURNS[code]?.name ?? 'fail';
    } finally {
      this.#side = before.side;
      ctx.state = before.state;
      ctx.failure = null;
    }
  }

  #code(state: StateName): number {
    const id = State[state];
    const steps = this.#program.waiting[id] ?? null;
    if (steps === null) return runState(this.#program, id, this.ctx);
    const code = runWaitingState(this.#program, id, steps, this.ctx, () => undefined);
    if (code === null) throw new VclFailure(`vcl_${state} waits for something, which a test cannot`);
    return code;
  }

  /** Calls a sub of the program. Returns its action; '' for none. */
  call(sub: SubValue): string {
    const code = sub.runAnywhere(this.ctx);
    return code === 0 ? '' : (RETURNS[code]?.name ?? '');
  }

  /** The request as it came. */
  setRequest(
    client: string,
    protocol: string,
    { first, second, fields }: { first: string; second: string; fields: readonly string[] },
  ): void {
    this.setClient(client);
    const { http } = this.#request;
    http.reset();
    http.proto = protocol;
    http.method = first;
    http.url = second;
    http.log = this.log;
    pushAll(http, fields);
  }

  /** The response of the origin as it came. */
  setResponse({ first, second, fields }: { first: string; second: string; fields: readonly string[] }): void {
    const { beresp } = this.#fetching();
    this.#ownResponse(beresp, Number(first), second);
    pushAll(beresp, fields);
  }

  /** The client's address. */
  setClient(ip: string): void {
    this.#session.clientIp = ip;
    this.#session.remoteIp = ip;
  }

  setRestarts(count: number): void {
    this.#request.restarts = count;
  }

  setRetries(count: number): void {
    this.#fetching().retries = count;
  }

  setEsiLevel(level: number): void {
    this.#request.esiLevel = level;
  }

  setBackground(isBackground: boolean): void {
    this.#fetching().isBgFetch = isBackground;
  }

  /** Strands of the key, with a bar after each. */
  get key(): string {
    return this.#request.attempt.hashKey.replaceAll('\0', '|');
  }

  /** Of vcl_synth, else of vcl_backend_error. */
  get body(): string {
    return this.#request.attempt.synthBody ?? this.#fetch?.attempt.synthBody ?? '';
  }

  /** Whether the program has logged this text with std.log(). */
  hasLogged(text: string): boolean {
    return this.log.of(Tag.VCL_Log).some((each) => each.includes(text));
  }
}

/** A context as of the start of a task. */
export function stageFor(program: VclProgram): TrialStage {
  return new TrialStage(program, (log) => trialContext(program, log));
}
