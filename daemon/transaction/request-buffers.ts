// Parts of a request that its connection keeps from one to the next, because making them costs more than emptying them:
// messages with their arrays, the log, the records of a lookup, and the view of obj.*, which is decoded when first asked
// for. Each part is emptied by the constructor of Request or overwritten by the one step that uses it; a test holds them
// to that. Everything else of a request is made new with it.

import { Tag } from '../../protocol/tables/tags.ts';
import { LookupQuery, LookupResult } from '../cache/lookup-query.ts';
import { type Oc, OF_ESI } from '../cache/objcore.ts';
import type { VclObject } from '../contract/context.ts';
import { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { Core } from './core.ts';

export class ObjectView implements VclObject {
  private readonly core: Core;
  private readonly message = new HttpMessage(Tag.ObjMethod);
  private oc: Oc = 0;
  private decoded = false;
  private now = 0;

  constructor(core: Core) {
    this.core = core;
  }

  show(oc: Oc, now: number): this {
    if (oc !== this.oc) this.decoded = false;
    this.oc = oc;
    this.now = now;
    return this;
  }

  /** Forgets the object: handles are reused. */
  clear(): void {
    this.oc = 0;
    this.decoded = false;
  }

  get http(): HttpMessage {
    if (!this.decoded) {
      this.message.reset();
      this.core.cache.reading.head(this.oc, this.message);
      this.decoded = true;
    }
    return this.message;
  }

  get hits(): number {
    return this.core.cache.facts.hitsOf(this.oc);
  }

  get age(): number {
    return this.now - this.core.cache.facts.tOriginOf(this.oc);
  }

  get ttl(): number {
    return Math.max(0, this.core.cache.facts.ttlOf(this.oc)) - this.age;
  }

  get grace(): number {
    return this.core.cache.facts.graceOf(this.oc);
  }

  get keep(): number {
    return this.core.cache.facts.keepOf(this.oc);
  }

  get uncacheable(): boolean {
    return this.core.cache.facts.isUncacheable(this.oc);
  }

  get storageName(): string {
    return this.core.cache.facts.storageOf(this.oc);
  }

  get canEsi(): boolean {
    return this.core.cache.facts.has(this.oc, OF_ESI);
  }
}

/** Buffers of ended requests that are kept for fragments and streams, which have no connection of their own to keep them. */
const SPARE = 256;

export function takeBuffers(core: Core): RequestBuffers {
  return core.esi.spareBuffers.pop() ?? new RequestBuffers(core);
}

export function keepBuffers({ esi }: Core, buffers: RequestBuffers): void {
  if (esi.spareBuffers.length < SPARE) esi.spareBuffers.push(buffers);
}

export class RequestBuffers {
  readonly http = new HttpMessage(Tag.ReqMethod);
  readonly resp = new HttpMessage(Tag.RespMethod);
  /** Holds the head as it came, for programs that roll back. */
  readonly original = new HttpMessage(Tag.ReqMethod);
  readonly log: TxLog;
  readonly lookup = new LookupResult();
  readonly query = new LookupQuery(this.http);
  readonly objectView: ObjectView;

  constructor(core: Core) {
    this.log = core.newLog();
    this.objectView = new ObjectView(core);
    this.query.onBanned = (vxid) => this.log.put(Tag.ExpBan, `${vxid} banned lookup`);
  }
}
