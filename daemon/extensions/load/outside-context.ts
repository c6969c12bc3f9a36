// The objects that an outside extension gets instead of our own. Each is valid for one call: later use, from a timer
// or a promise, throws in the extension's own code and cannot reach a transaction that has continued.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclBusyobj, VclContext } from '../../contract/context.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { STATES } from '../../contract/program.ts';
import type { SharedState } from '../../contract/shared-state.ts';
import type { HttpMessage } from '../../http1/message.ts';
import { setHeader } from '../../vcl/runtime/headers.ts';
import { backendHandle } from './handles.ts';
import {
  EXTENSION_INTERFACE,
  type OutsideBackend,
  type OutsideBackendDescription,
  type OutsideContext,
  type OutsideDirector,
  type OutsideEnd,
  type OutsideHead,
  type OutsideLife,
  type OutsideSession,
} from './interface.ts';
import { addDirector, backendAt, OwnDirector } from './outside-directors.ts';
import { OutsideShared } from './outside-shared.ts';

/** An object of a call was used after its end. */
export class LateUse extends Error {
  constructor() {
    super('used after the call it belongs to');
  }
}

/** Whether a call is still running. */
export class CallLife {
  over = false;

  check(): void {
    if (this.over) throw new LateUse();
  }
}

/** A text as a byte string: characters beyond Latin-1 are encoded as UTF-8. */
export function byteText(text: string): string {
  return /[^\0-\xff]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function fieldName(name: unknown): string {
  if (typeof name !== 'string' || !FIELD_NAME.test(name)) {
    throw new ExtensionError(`'${String(name)}' is not a valid header name`);
  }
  return name;
}

/** The message; throws ExtensionError for a cached object's, which is shared by all its readers. */
export function writable(http: HttpMessage): HttpMessage {
  if (http.base === Tag.ObjMethod) throw new ExtensionError('the head of an object cannot be changed');
  return http;
}

export class Head implements OutsideHead {
  readonly #life: CallLife;
  readonly #http: HttpMessage;

  constructor(life: CallLife, http: HttpMessage) {
    this.#life = life;
    this.#http = http;
  }

  get method(): string {
    return this.#read().method;
  }

  get url(): string {
    return this.#read().url;
  }

  get protocol(): string {
    return this.#read().proto;
  }

  get status(): number {
    return this.#read().status;
  }

  get reason(): string {
    return this.#read().reason;
  }

  get(name: string): string | null {
    return this.#read().get(fieldName(name).toLowerCase());
  }

  getAll(name: string): string[] {
    const http = this.#read();
    const key = fieldName(name).toLowerCase();
    const out: string[] = [];
    for (let i = http.find(key); i >= 0; i = http.find(key, i + 1)) out.push(http.valueAt(i));
    return out;
  }

  names(): string[] {
    const http = this.#read();
    return http.lines.slice(0, http.n).map((line, i) => line.slice(0, (http.keys[i] as string).length));
  }

  set(name: string, value: string): void {
    setHeader(this.#write(), fieldName(name), headerText(value));
  }

  add(name: string, value: string): void {
    const http = this.#write();
    const key = fieldName(name).toLowerCase();
    const kept = this.getAll(name);
    setHeader(http, name, headerText(value));
    if (kept.length === 0) return;
    http.unset(key);
    for (const v of [...kept, headerText(value)]) http.add(name, v, key);
  }

  unset(name: string): void {
    this.#write().unset(fieldName(name).toLowerCase());
  }

  #read(): HttpMessage {
    this.#life.check();
    return this.#http;
  }

  #write(): HttpMessage {
    this.#life.check();
    return writable(this.#http);
  }

  /** The head behind an HTTP argument that is passed back. */
  static messageOf(head: Head): HttpMessage {
    return head.#http;
  }
}

function headerText(value: unknown): string {
  if (typeof value !== 'string') throw new ExtensionError(`a header field is a string, not ${typeof value}`);
  return byteText(value);
}

/** Lifetimes of a response being fetched. */
class Life implements OutsideLife {
  readonly #life: CallLife;
  readonly #bo: VclBusyobj;

  constructor(life: CallLife, bo: VclBusyobj) {
    this.#life = life;
    this.#bo = bo;
  }

  get ttl(): number {
    return this.#now().ttl;
  }

  set ttl(seconds: number) {
    this.#now().ttl = lifetime(seconds);
  }

  get grace(): number {
    return this.#now().grace;
  }

  set grace(seconds: number) {
    this.#now().grace = lifetime(seconds);
  }

  get keep(): number {
    return this.#now().keep;
  }

  set keep(seconds: number) {
    this.#now().keep = lifetime(seconds);
  }

  get age(): number {
    return this.#now().age;
  }

  #now(): VclBusyobj {
    this.#life.check();
    return this.#bo;
  }
}

function lifetime(seconds: unknown): number {
  if (!Number.isFinite(seconds)) throw new ExtensionError(`a lifetime is a number of seconds`);
  return Math.max(0, seconds as number);
}

const HAS_RESP = new Set(['deliver', 'synth']);
const HAS_OBJ = new Set(['hit', 'deliver']);
const HAS_BERESP = new Set(['backend_refresh', 'backend_response', 'backend_error']);

export class Context implements OutsideContext {
  readonly abi = EXTENSION_INTERFACE;
  readonly #ctx: VclContext;
  readonly #life: CallLife;
  readonly #event: boolean;

  constructor(ctx: VclContext, life: CallLife, event = false) {
    this.#ctx = ctx;
    this.#life = life;
    this.#event = event;
  }

  get program(): string {
    return this.#now().vcl.name;
  }

  get state(): string {
    return this.#event ? 'event' : (STATES[this.#now().state] ?? '');
  }

  get now(): number {
    return this.#now().now;
  }

  get xid(): number {
    const ctx = this.#now();
    return (ctx.bo ?? ctx.req)?.attempt.vxid ?? 0;
  }

  get req(): OutsideHead | null {
    const { req } = this.#now();
    return req === null ? null : new Head(this.#life, req.http);
  }

  get resp(): OutsideHead | null {
    const { req } = this.#now();
    return req === null || !HAS_RESP.has(this.state) ? null : new Head(this.#life, req.resp);
  }

  get obj(): OutsideHead | null {
    const http = HAS_OBJ.has(this.state) ? this.#now().req?.obj?.http : undefined;
    return http === undefined ? null : new Head(this.#life, http);
  }

  get bereq(): OutsideHead | null {
    const { bo } = this.#now();
    return bo === null ? null : new Head(this.#life, bo.bereq);
  }

  get beresp(): OutsideHead | null {
    const { bo } = this.#now();
    return bo === null || !HAS_BERESP.has(this.state) ? null : new Head(this.#life, bo.beresp);
  }

  get session(): OutsideSession | null {
    const ctx = this.#now();
    const s = ctx.req?.session ?? ctx.bo?.session ?? null;
    if (s === null) return null;
    const end = (address: string, port: number): OutsideEnd => Object.freeze({ address, port });
    return Object.freeze({
      id: s.vxid,
      listener: s.endpointName,
      client: end(s.clientIp, s.clientPort),
      server: end(s.serverIp, s.serverPort),
      remote: end(s.remoteIp, s.remotePort),
      local: end(s.localIp, s.localPort),
    });
  }

  get restarts(): number {
    return this.#now().req?.restarts ?? 0;
  }

  get retries(): number {
    return this.#now().bo?.retries ?? 0;
  }

  get backend(): OutsideBackend | null {
    const { req, bo } = this.#now();
    const d = bo === null ? req?.settings.backendHint : (bo.respBackend ?? bo.backend);
    return d === null || d === undefined ? null : backendHandle(d);
  }

  backendAt(description: OutsideBackendDescription): OutsideBackend {
    return backendHandle(backendAt(this.#now(), description));
  }

  director(name: string, director: OutsideDirector): OutsideBackend {
    const ctx = this.#now();
    const made = addDirector(ctx, name, (own) => new OwnDirector(own, director, ctx.now, inContext));
    return backendHandle(made);
  }

  get storage(): string | null {
    const { req, bo } = this.#now();
    if (bo !== null) return bo.storage;
    return HAS_OBJ.has(this.state) ? (req?.obj?.storageName ?? null) : (req?.settings.storage ?? null);
  }

  get life(): OutsideLife | null {
    const { req, bo } = this.#now();
    if (HAS_BERESP.has(this.state) && bo !== null) return new Life(this.#life, bo);
    const obj = HAS_OBJ.has(this.state) ? req?.obj : null;
    if (obj === null || obj === undefined) return null;
    return Object.freeze({ ttl: obj.ttl, grace: obj.grace, keep: obj.keep, age: obj.age });
  }

  get shared(): SharedState {
    return new OutsideShared(this.#now().host.shared);
  }

  fail(text: string): never {
    this.#life.check();
    throw new ExtensionError(byteText(String(text)));
  }

  log(text: string): void {
    this.#now().log.put(Tag.VCL_Log, byteText(String(text)));
  }

  error(text: string): void {
    this.#now().log.put(Tag.VCL_Error, byteText(String(text)));
  }

  debug(text: string): void {
    const { log } = this.#now();
    if (log.wants(Tag.Debug)) log.put(Tag.Debug, byteText(String(text)));
  }

  #now(): VclContext {
    this.#life.check();
    return this.#ctx;
  }
}

/** Makes a call with a context that becomes invalid afterwards. */
function inContext(ctx: VclContext, call: (c: OutsideContext) => unknown): unknown {
  const life = new CallLife();
  try {
    return call(new Context(ctx, life));
  } finally {
    life.over = true;
  }
}
