// A request and a fetch without connections, for the tests of extensions: plain values that implement the interfaces
// of context.ts, and a log that keeps its records. Nothing waits or leaves the process; purges, bans and body reads
// have no effect.

import type { ParamName } from '../../../protocol/tables/params.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import {
  type Director,
  RequestSettings,
  type VclBusyobj,
  VclContext,
  type VclHost,
  type VclLog,
  type VclProgram,
  type VclRequest,
  type VclSession,
} from '../../contract/context.ts';
import { OwnState } from '../../contract/own-state.ts';
import { keep, type LentBytes } from '../../http1/lent-bytes.ts';
import { type ConstantRecord, HttpMessage } from '../../http1/message.ts';
import { Params } from '../../params/parameter-set.ts';

/** Addresses for documentation (RFC 5737). */
const CLIENT = '192.0.2.1';
const PROXY = '192.0.2.2';
const PARAMS = new Params();

const HOST: VclHost = {
  param: (name) => PARAMS.get(name as ParamName),
  now: () => Date.now() / 1000,
  identity: 'test',
  hostname: 'test',
  shared: new OwnState(),
  ban: () => null,
  softBan: () => null,
  edge: null,
  fleet: null,
  disk: null,
  purgeTags: () => 0,
  purgeUrl: () => ({ purged: 0 }),
  syslog: () => undefined,
  count: () => undefined,
  stevedores: () => ['s0', 'Transient'],
  storage: () => null,
};

const SESSION: VclSession = {
  remoteIp: CLIENT,
  remotePort: 50_000,
  localIp: PROXY,
  localPort: 80,
  clientIp: CLIENT,
  clientPort: 50_000,
  serverIp: PROXY,
  serverPort: 80,
  endpointName: 'a0',
  endpointSocket: `${PROXY}:80`,
  vxid: 1,
  timeoutIdle: 5,
  timeoutLinger: 0.05,
  idleSendTimeout: 60,
  sendTimeout: 600,
  proxyAttributes: null,
  tls: null,
  http2: null,
  peerCredentials: () => null,
};

/** A log that keeps its records. */
export class TrialLog implements VclLog {
  readonly #records: { tag: number; text: string }[] = [];

  put(tag: number, text: string): void {
    this.#records.push({ tag, text });
  }

  putUnmasked(tag: number, text: string): void {
    this.put(tag, text);
  }
  putFor(_vxid: number, _side: string, tag: number, text: string): void {
    this.put(tag, text);
  }

  putBytes(tag: number, src: LentBytes, start: number, end: number): void {
    this.put(tag, keep(src, start, end).toString('latin1'));
  }

  putConstant(record: ConstantRecord): void {
    for (const [tag, text] of record.items) this.put(tag, text);
  }

  wants(): boolean {
    return true;
  }

  timestamp(): void {}

  /** Texts of the records with this tag. */
  of(tag: number): string[] {
    return this.#records.filter((r) => r.tag === tag).map((r) => r.text);
  }
}

/** A healthy backend from which nothing is fetched. */
export function trialBackend(vclName: string): Director {
  const backend: Director = {
    vclName,
    healthy: () => true,
    resolve: () => backend,
    inUse: 0,
    listed: null,
    setWarm: () => undefined,
  };
  return backend;
}

/** The client's request. */
export interface TrialRequest {
  url: string;
  /** Headers by name, added to `Host: example.com`. */
  headers: Readonly<Record<string, string>>;
}

/** For vcl_init and vcl_fini; for other states the caller adds a request or a fetch. */
export function trialContext(program: VclProgram, log: TrialLog): VclContext {
  const ctx = new VclContext(HOST, program, log);
  ctx.now = HOST.now();
  return ctx;
}

export function trialRequest(ctx: VclContext, asked: TrialRequest): VclRequest {
  const attempt = {
    vxid: 2,
    isHitMiss: false,
    isHitPass: false,
    hashKey: '',
    respDoEsi: true,
    respFilters: null,
    synthBody: null,
  };
  const req: VclRequest = {
    http: question(Tag.ReqMethod, ctx, asked),
    resp: answer(Tag.RespMethod, ctx),
    session: SESSION,
    attempt,
    settings: new RequestSettings(),
    restarts: 0,
    esiLevel: 0,
    tReq: ctx.now,
    get top() {
      return req;
    },
    obj: null,
    canGzip: false,
    topPrivs: null,
    hashData: (text, more = []) => {
      attempt.hashKey += [text, ...more, '\0'].join('');
    },
    usualRespFilters: () => '',
    respIsStreaming: false,
    bodyFilters: '',
    setBodyFilters: () => false,
    cacheBody: () => true,
    late100Continue: false,
    cachedBody: null,
    purge: () => 0,
    selectProgram: () => undefined,
    purgeOthers: () => undefined,
    rollback: () => undefined,
  };
  return req;
}

export function trialFetch(ctx: VclContext, asked: TrialRequest): VclBusyobj {
  return {
    bereq: question(Tag.BereqMethod, ctx, asked),
    beresp: answer(Tag.BerespMethod, ctx),
    attempt: {
      vxid: 3,
      respEnds: null,
      respTls: null,
      was304: false,
      doStream: true,
      doEsi: false,
      doGzip: false,
      doGunzip: false,
      filters: null,
      synthBody: null,
    },
    stale: null,
    retries: 0,
    isBgFetch: false,
    uncacheable: false,
    isHitMiss: false,
    isHitPass: false,
    backend: ctx.vcl.defaultDirector,
    respBackend: null,
    connectTimeout: -1,
    firstByteTimeout: -1,
    betweenBytesTimeout: -1,
    retryConnect: true,
    bodyFilters: null,
    transitBuffer: 0,
    taskDeadline: 0,
    params: {
      connect_timeout: 3.5,
      first_byte_timeout: 60,
      between_bytes_timeout: 60,
      pipe_task_deadline: 0,
    },
    trace: null,
    ttl: 120,
    grace: 10,
    keep: 0,
    age: 0,
    storage: 's0',
    usualFilters: () => '',
    unsetBody: () => undefined,
    session: SESSION,
    tStart: ctx.now,
    clientIdentity: null,
    hashKey: '',
    recalculateLifetime: () => undefined,
    rollback: () => undefined,
  };
}

function question(tag: number, { log }: VclContext, { url, headers }: TrialRequest): HttpMessage {
  const head = new HttpMessage(tag);
  head.method = 'GET';
  head.url = url;
  head.proto = 'HTTP/1.1';
  for (const [name, value] of Object.entries({ Host: 'example.com', ...headers }))
    head.push(name.toLowerCase(), `${name}: ${value}`);
  head.log = log;
  return head;
}

function answer(tag: number, { log }: VclContext): HttpMessage {
  const head = new HttpMessage(tag);
  head.proto = 'HTTP/1.1';
  head.status = 200;
  head.reason = 'OK';
  head.log = log;
  return head;
}
