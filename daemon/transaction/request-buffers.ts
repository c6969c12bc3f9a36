// Parts of a request that a connection reuses for its next request, and that another connection takes over when it ends,
// since clearing them is cheaper than making them: messages with their arrays, the log, the records of a lookup, and the
// view of obj.*, which is decoded on first use. Each part is cleared by the constructor of Request or overwritten by the
// one step that uses it, which a test verifies. Everything else is made for each request.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Cache } from '../cache/cache.ts';
import { LookupQuery, LookupResult } from '../cache/lookup-query.ts';
import { type Oc, OF_ESI } from '../cache/objcore.ts';
import type { VclObject } from '../contract/context.ts';
import { HttpMessage } from '../http1/message.ts';
import type { TxLog } from '../log/tx-log.ts';

/** The services of a thread that make buffers, and keep those of fragments and streams. */
interface Makes {
  readonly cache: Pick<Cache, 'reading' | 'facts'>;
  readonly esi: { readonly spareBuffers: RequestBuffers[] };
  newLog(): TxLog;
}

export class ObjectView implements VclObject {
  private readonly cache: Makes['cache'];
  private readonly message = new HttpMessage(Tag.ObjMethod);
  private oc: Oc = 0;
  private decoded = false;
  private now = 0;

  constructor(cache: Makes['cache']) {
    this.cache = cache;
  }

  show(oc: Oc, now: number): this {
    if (oc !== this.oc) this.decoded = false;
    this.oc = oc;
    this.now = now;
    return this;
  }

  /** Drops the reference to the object: handles are reused. */
  clear(): void {
    this.oc = 0;
    this.decoded = false;
  }

  get http(): HttpMessage {
    if (!this.decoded) {
      this.message.reset();
      this.cache.reading.head(this.oc, this.message);
      this.decoded = true;
    }
    return this.message;
  }

  get hits(): number {
    return this.cache.facts.hitsOf(this.oc);
  }

  get age(): number {
    return this.now - this.cache.facts.tOriginOf(this.oc);
  }

  get ttl(): number {
    return Math.max(0, this.cache.facts.ttlOf(this.oc)) - this.age;
  }

  get grace(): number {
    return this.cache.facts.graceOf(this.oc);
  }

  get keep(): number {
    return this.cache.facts.keepOf(this.oc);
  }

  get uncacheable(): boolean {
    return this.cache.facts.isUncacheable(this.oc);
  }

  get storageName(): string {
    return this.cache.facts.storageOf(this.oc);
  }

  get canEsi(): boolean {
    return this.cache.facts.has(this.oc, OF_ESI);
  }
}

/** Most buffers of ended requests that are kept for new connections, and for fragments and streams, which have none of their own. */
const SPARE = 256;

export function takeBuffers(core: Makes): RequestBuffers {
  return core.esi.spareBuffers.pop() ?? new RequestBuffers(core);
}

export function keepBuffers({ esi }: Makes, buffers: RequestBuffers): void {
  if (esi.spareBuffers.length < SPARE) esi.spareBuffers.push(buffers);
}

export class RequestBuffers {
  readonly http = new HttpMessage(Tag.ReqMethod);
  readonly resp = new HttpMessage(Tag.RespMethod);
  /** The head as received, for programs that roll back. */
  readonly original = new HttpMessage(Tag.ReqMethod);
  readonly log: TxLog;
  readonly lookup = new LookupResult();
  readonly query = new LookupQuery(this.http);
  readonly objectView: ObjectView;

  constructor(core: Makes) {
    this.log = core.newLog();
    this.objectView = new ObjectView(core.cache);
    this.query.onBanned = (vxid) => this.log.put(Tag.ExpBan, `${vxid} banned lookup`);
  }
}
