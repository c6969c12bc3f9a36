// A task for tests of VCL programs: plain objects for the interfaces of context.ts, and a log of "Tag text" lines.

import {
  type Director,
  RequestSettings,
  type VclAttempt,
  type VclBusyobj,
  VclContext,
  type VclHost,
  type VclObject,
  type VclProgram,
  type VclRequest,
  type VclSession,
} from '../../../daemon/contract/context.ts';
import { OwnState } from '../../../daemon/contract/own-state.ts';
import { State, type StateName } from '../../../daemon/contract/program.ts';
import { compile } from '../../../daemon/extensions/compile-with-builtins.ts';
import { findExtension } from '../../../daemon/extensions/registry.ts';
import type { LentBytes } from '../../../daemon/http1/lent-bytes.ts';
import { type ConstantRecord, HttpMessage } from '../../../daemon/http1/message.ts';
import type { CompileOptions } from '../../../daemon/vcl/compile.ts';
import { formatDiagnostics } from '../../../daemon/vcl/diagnostics.ts';
import { loadProgram } from '../../../daemon/vcl/loader.ts';
import { runState } from '../../../daemon/vcl/runtime/run-state.ts';
import { RETURNS } from '../../../protocol/tables/returns.ts';
import { TAGS, Tag } from '../../../protocol/tables/tags.ts';

export const NOW = 1_700_000_000;

export class FakeLog {
  readonly lines: string[] = [];
  put(tag: number, text: string): void {
    this.lines.push(`${TAGS[tag - 1]?.name ?? tag} ${text}`);
  }
  putBytes(tag: number, src: LentBytes, start: number, end: number): void {
    this.put(tag, Buffer.from(src.subarray(start, end)).toString('latin1'));
  }
  putConstant(record: ConstantRecord): void {
    for (const [tag, text] of record.items) this.put(tag, text);
  }
  /** Tags that are written although few want them. */
  readonly wanted = new Set<number>();
  timestamp(): void {}
  putUnmasked(tag: number, text: string): void {
    this.put(tag, text);
  }
  putFor(_vxid: number, _side: string, tag: number, text: string): void {
    this.put(tag, text);
  }
  wants(tag: number): boolean {
    return this.wanted.has(tag);
  }
  of(tag: keyof typeof Tag): string[] {
    return this.lines.flatMap((l) => (l.startsWith(`${tag} `) ? [l.slice(tag.length + 1)] : []));
  }
}

export function fakeDirector(vclName: string): Director {
  const d: Director = {
    vclName,
    healthy: () => true,
    resolve: () => d,
    inUse: 0,
    listed: null,
    setWarm: () => undefined,
  };
  return d;
}

export const session: VclSession = {
  remoteIp: '192.0.2.1',
  remotePort: 1001,
  localIp: '192.0.2.2',
  localPort: 8080,
  clientIp: '192.0.2.1',
  clientPort: 1001,
  serverIp: '192.0.2.2',
  serverPort: 8080,
  endpointName: 'a0',
  endpointSocket: '192.0.2.2:8080',
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

export const host: VclHost = {
  param: (name) => (name === 'uncacheable_ttl' ? 120 : 0),
  now: () => NOW,
  identity: 'id',
  hostname: 'host',
  shared: new OwnState(),
  edge: null,
  fleet: null,
  disk: null,
  ban: (e) => (e.includes('==') ? null : 'Expected second operand.'),
  softBan: () => null,
  purgeTags: () => 0,
  purgeUrl: () => ({ purged: 0 }),
  count: () => undefined,
  syslog: () => undefined,
  stevedores: () => ['s0', 'Transient'],
  storage: (name) => (name === 's0' ? { freeSpace: 1000, usedSpace: 24, happy: true } : null),
};

function message(tag: number, log: FakeLog): HttpMessage {
  const m = new HttpMessage(tag);
  m.log = log;
  return m;
}

export interface Task {
  ctx: VclContext;
  log: FakeLog;
  program: VclProgram;
  req: VclRequest;
  attempt: { -readonly [K in keyof VclAttempt]: VclAttempt[K] };
  bo: VclBusyobj;
  run: (state: StateName) => string;
}

/** Compiles and loads a program (with a backend `d` and `import std;` in front unless it has a version line). */
export function load(text: string, options: CompileOptions = {}): VclProgram {
  const whole = text.startsWith('vcl ')
    ? text
    : `vcl 4.1; import std; backend d { .host = "127.0.0.1"; }\n${text}`;
  const r = compile({ name: 'test.vcl', text: whole }, options);
  if (r.program === undefined) throw new Error(formatDiagnostics(r.errors));
  const directors = new Map(r.program.backends.map((b) => [b.name, fakeDirector(b.name)]));
  return loadProgram('test', r.program, directors, options.extensions ?? findExtension);
}

export function task(text: string, headers: Record<string, string> = {}, options: CompileOptions = {}): Task {
  return taskOf(load(text, options), headers);
}

/** A task of a program that is loaded already. */
export function taskOf(program: VclProgram, headers: Record<string, string> = {}): Task {
  const log = new FakeLog();
  const ctx = new VclContext(host, program, log);
  ctx.now = NOW;
  const http = message(Tag.ReqMethod, log);
  http.method = 'GET';
  http.url = '/path?b=2&a=1';
  http.proto = 'HTTP/1.1';
  http.push('host', 'Host: example.com');
  for (const [k, v] of Object.entries(headers)) http.push(k.toLowerCase(), `${k}: ${v}`);
  const objHttp = message(Tag.ObjMethod, log);
  objHttp.status = 200;
  const obj: VclObject = {
    http: objHttp,
    hits: 3,
    age: 5,
    ttl: 100,
    grace: 10,
    keep: 0,
    uncacheable: false,
    storageName: 's0',
    canEsi: false,
  };
  const attempt: { -readonly [K in keyof VclAttempt]: VclAttempt[K] } = {
    vxid: 1001,
    isHitMiss: false,
    isHitPass: false,
    hashKey: '',
    respDoEsi: true,
    respFilters: null,
    synthBody: null,
  };
  const req: VclRequest = {
    http,
    resp: message(Tag.RespMethod, log),
    session,
    attempt,
    settings: new RequestSettings(),
    restarts: 0,
    esiLevel: 0,
    tReq: NOW,
    get top() {
      return req;
    },
    obj,
    canGzip: true,
    hashData(t, more = []) {
      attempt.hashKey += `${[t, ...more].join('+')}#`;
    },
    topPrivs: null,
    respIsStreaming: false,
    usualRespFilters: () => '',
    bodyFilters: '',
    setBodyFilters: () => false,
    cacheBody: () => false,
    late100Continue: false,
    cachedBody: null,
    purge: () => 0,
    purgeOthers: () => undefined,
    selectProgram: () => undefined,
    rollback: () => undefined,
  };
  const bereq = message(Tag.BereqMethod, log);
  bereq.method = 'GET';
  bereq.url = '/path';
  const beresp = message(Tag.BerespMethod, log);
  beresp.status = 200;
  beresp.reason = 'OK';
  const bo: VclBusyobj = {
    bereq,
    beresp,
    attempt: {
      vxid: 1002,
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
    stale: { ...obj, isValid: true },
    retries: 0,
    tStart: NOW,
    clientIdentity: null,
    isBgFetch: false,
    uncacheable: false,
    isHitMiss: false,
    isHitPass: false,
    backend: null,
    respBackend: null,
    hashKey: '',
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
    ttl: 100,
    grace: 10,
    keep: 0,
    age: 0,
    storage: 's0',
    usualFilters: () => ' usual',
    unsetBody: () => undefined,
    session,
    recalculateLifetime: () => undefined,
    rollback: () => undefined,
  };
  const run = (state: StateName): string => {
    const backend = state.startsWith('backend_') || state === 'pipe';
    ctx.bo = backend ? bo : null;
    ctx.req = state.startsWith('backend_') || state === 'init' || state === 'fini' ? null : req;
    return RETURNS[runState(program, State[state], ctx)]?.name ?? '?';
  };
  return { ctx, log, program, req, attempt, bo, run };
}
