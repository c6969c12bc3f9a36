// What an outside extension is handed instead of our own objects. Each lives for one call: a late use, from a
// timer or a promise, throws in the extension's own code and reaches nothing of a transaction that has gone on.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { STATES } from '../../contract/program.ts';
import type { HttpMessage } from '../../http1/message.ts';
import { setHeader } from '../../vcl/runtime/headers.ts';
import { ABI, type OutsideContext, type OutsideHead } from './interface.ts';

/** Something of a call was used after its end. */
export class LateUse extends Error {
  constructor() {
    super('used after the call it belongs to');
  }
}

/** A call that has ended or not. */
export class CallLife {
  over = false;

  check(): void {
    if (this.over) throw new LateUse();
  }
}

/** Bytes of a text, one a character: what an extension writes beyond Latin-1 goes on as UTF-8. */
export function byteText(text: string): string {
  return /[^\0-\xff]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function fieldName(name: unknown): string {
  if (typeof name !== 'string' || !FIELD_NAME.test(name)) {
    throw new ExtensionError(`'${String(name)}' is no name of a header field`);
  }
  return name;
}

/** The message, unless it is a cached object's, which all its readers share. Throws ExtensionError. */
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

  /** The head itself, for a HTTP argument that comes back. */
  static messageOf(head: Head): HttpMessage {
    return head.#http;
  }
}

function headerText(value: unknown): string {
  if (typeof value !== 'string') throw new ExtensionError(`a header field takes a text, not ${typeof value}`);
  return byteText(value);
}

const HAS_RESP = new Set(['deliver', 'synth']);
const HAS_OBJ = new Set(['hit', 'deliver']);
const HAS_BERESP = new Set(['backend_response', 'backend_error']);

export class Context implements OutsideContext {
  readonly abi = ABI;
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
    return ctx.bo?.vxid ?? ctx.req?.vxid ?? 0;
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

  fail(text: string): never {
    this.#life.check();
    throw new ExtensionError(byteText(String(text)));
  }

  log(text: string): void {
    this.#now().log.put(Tag.VCL_Log, byteText(String(text)));
  }

  #now(): VclContext {
    this.#life.check();
    return this.#ctx;
  }
}
