// The heads of objects that are being hit again and again, ready for use: decoded lines, their bytes outside the
// shared memory and their log records, so that a hit copies instead of decoding. An object is known by its handle
// and its transaction id together: handles are used again, ids are not, and a stored head never changes.
//
// Bounded in number, and dropped as a whole when full: the hottest are back after two hits.

import { Tag } from '../../protocol/tables/tags.ts';
import type { Cache, Oc } from '../cache/cache.ts';
import type { HttpMessage } from '../http1/message.ts';
import { PreparedRecords, type TxLog } from '../log/tx-log.ts';

const MAX = 1024;
/** An object with fewer hits is not worth it. */
const HITS = 2;

class HotHead {
  readonly vxid: number;
  private readonly status: number;
  private readonly reason: string;
  private readonly proto: string;
  private readonly keys: string[];
  private readonly lines: string[];
  private readonly bytes: Uint8Array;
  private readonly records: PreparedRecords;

  /** @param decoded the object's head, with its bytes lent */
  constructor(vxid: number, decoded: HttpMessage) {
    this.vxid = vxid;
    this.status = decoded.status;
    this.reason = decoded.reason;
    this.proto = decoded.proto;
    this.keys = decoded.keys.slice(0, decoded.n);
    this.lines = decoded.lines.slice(0, decoded.n);
    this.bytes = Buffer.from(`${this.lines.join('\r\n')}\r\n`, 'latin1');
    this.records = new PreparedRecords([
      [Tag.RespProtocol, this.proto],
      [Tag.RespStatus, String(this.status).padStart(3, '0')],
      [Tag.RespReason, this.reason],
      ...this.lines.map((line): [number, string] => [Tag.RespHeader, line]),
    ]);
  }

  show(into: HttpMessage, log: TxLog): void {
    into.status = this.status;
    into.reason = this.reason;
    into.proto = this.proto;
    const { keys, lines } = this;
    const n = keys.length;
    for (let i = 0; i < n; i++) {
      into.keys[i] = keys[i] as string;
      into.lines[i] = lines[i] as string;
    }
    into.n = n;
    into.lendWhole(this.bytes);
    log.putConstant(this.records);
  }
}

export class HotHeads {
  private readonly cache: Cache;
  private readonly heads = new Map<Oc, HotHead>();

  constructor(cache: Cache) {
    this.cache = cache;
  }

  /** Fills `into` from a hot object's head and logs it as the response; false when the object is not hot. */
  show(oc: Oc, into: HttpMessage, log: TxLog): boolean {
    const { cache, heads } = this;
    const hot = heads.get(oc);
    if (hot !== undefined && hot.vxid === cache.vxidOf(oc)) {
      hot.show(into, log);
      return true;
    }
    if (cache.hits(oc) < HITS) return false;
    cache.head(oc, into);
    if (into.n === 0) return false;
    if (heads.size >= MAX) heads.clear();
    const made = new HotHead(cache.vxidOf(oc), into);
    heads.set(oc, made);
    made.show(into, log);
    return true;
  }
}
