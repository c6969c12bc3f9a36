// The heads of objects that are being hit again and again, ready for use: decoded lines, their bytes outside the
// shared memory and their log records, so that a hit copies instead of decoding. An object is known by its handle
// and its transaction id together: handles are used again, ids are not, and a stored head never changes.
//
// Bounded in number, and dropped as a whole when full: the hottest are back after two hits.

import { Tag } from '../../protocol/tables/tags.ts';
import { type Oc, OF_ESI, OF_GZIPPED } from '../cache/objcore.ts';
import type { ObjectFacts } from '../cache/object-facts.ts';
import type { ObjectReading } from '../cache/object-reading.ts';
import { HttpMessage } from '../http1/message.ts';
import { nameOf } from '../http2/hpack-encoder.ts';
import { type ResponseField, ResponseFields } from '../http2/response-field.ts';
import { PreparedRecords, type TxLog } from '../log/tx-log.ts';

/** Lines that responses get from the proxy itself. */
export const ACCEPT_RANGES = 'Accept-Ranges: bytes';
export const KEEP_ALIVE = 'Connection: keep-alive';

const MAX = 1024;
/** An object with fewer hits is not worth it. */
const HITS = 2;
/** Places in which an object is noted at a hit. If it is still there at its next one, few others came between. */
const NOTED = 1024;
/** A body up to this size is sent at once with its head. */
export const ONE_WRITE = 64 * 1024;
/** Fields that the proxy adds or that change how the body is sent. */
const OURS = ['age', 'via', 'accept-ranges', 'connection', 'transfer-encoding', 'priority'];

/** The fields of a head as HTTP/2 sends them. */
interface FramedHead {
  readonly fields: readonly ResponseField[];
  /** Most bytes that they and those of every plain hit take. */
  readonly bound: number;
}

/** Of all hot heads over HTTP/2. */
export class FramedFields {
  readonly all = new ResponseFields();
  /** The fields after Age. */
  readonly added: readonly ResponseField[];
  readonly addedBound: number;

  constructor(viaLine: string) {
    this.added = [this.all.of('via', viaLine), this.all.of('accept-ranges', ACCEPT_RANGES)];
    this.addedBound = boundOf(this.added);
  }
}

function boundOf(fields: readonly ResponseField[]): number {
  let bound = 0;
  for (const { plain, inserting } of fields) bound += Math.max(plain.length, inserting.length);
  return bound;
}

export class HotHead {
  readonly vxid: number;
  /** RespProtocol to the last stored RespHeader. */
  readonly records: PreparedRecords;
  /** Status line and stored fields as they are sent. */
  readonly wire: Uint8Array;
  /** Length of the body. */
  readonly length: number;
  /** Whether the response is the stored fields, what every response gets and the body as it is. */
  readonly plain: boolean;
  private readonly status: number;
  private readonly reason: string;
  private readonly proto: string;
  private readonly keys: string[];
  private readonly lines: string[];
  private readonly names: number;
  private readonly bytes: Uint8Array;
  /** Made when HTTP/2 first asks for it. */
  private frames: FramedHead | null = null;

  /**
   * @param decoded the object's head
   * @param idKey the header of transaction ids
   */
  constructor(facts: ObjectFacts, reading: ObjectReading, oc: Oc, decoded: HttpMessage, idKey: string) {
    this.vxid = facts.vxidOf(oc);
    this.length = reading.bodyLength(oc);
    this.status = decoded.status;
    this.reason = decoded.reason;
    this.proto = decoded.proto;
    this.keys = decoded.keys.slice(0, decoded.n);
    this.lines = decoded.lines.slice(0, decoded.n);
    this.names = decoded.names;
    const first = `HTTP/1.1 ${this.status} ${this.reason}\r\n`;
    this.wire = Buffer.from(`${first}${this.lines.join('\r\n')}\r\n`, 'latin1');
    this.bytes = this.wire.subarray(first.length);
    this.plain =
      this.status === 200 &&
      this.proto === 'HTTP/1.1' &&
      this.length <= ONE_WRITE &&
      !facts.has(oc, OF_GZIPPED | OF_ESI) &&
      decoded.getAll('content-length') === String(this.length) &&
      !decoded.has(idKey) &&
      !OURS.some((key) => decoded.has(key));
    this.records = new PreparedRecords([
      [Tag.RespProtocol, this.proto],
      [Tag.RespStatus, String(this.status).padStart(3, '0')],
      [Tag.RespReason, this.reason],
      ...this.lines.map((line): [number, string] => [Tag.RespHeader, line]),
    ]);
  }

  framed({ all, addedBound }: FramedFields): FramedHead {
    if (this.frames !== null) return this.frames;
    const fields = this.lines.map((line, i) => all.of(this.keys[i] as string, line));
    this.frames = { fields, bound: boundOf(fields) + addedBound };
    return this.frames;
  }

  /** Fills `into` and logs it as the response. */
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
    into.filled(n, this.names);
    into.lendWhole(this.bytes);
    log.putConstant(this.records);
  }
}

export class HotHeads {
  /** Room for the two fields of a plain hit that are its own: the name of one may have 126 characters. */
  readonly scratch = new Uint8Array(256);
  /** The fields after Age as they are sent, with the blank line. */
  readonly tail: Uint8Array;
  /** Their records, and those of a vcl_deliver that is the builtin one. */
  readonly delivered: PreparedRecords;
  /** The records between Process and Resp. */
  readonly sent: PreparedRecords;
  readonly framed: FramedFields;
  private readonly facts: ObjectFacts;
  private readonly reading: ObjectReading;
  private readonly decoded = new HttpMessage(Tag.ObjMethod);
  private readonly heads = new Map<Oc, HotHead>();
  /** Pairs of an object and its number of hits when it was noted. */
  private readonly noted = new Int32Array(NOTED * 2);
  private idKey: string;

  /**
   * @param viaLine the Via field this proxy adds
   * @param idKey the header of transaction ids, in lower case
   */
  constructor(facts: ObjectFacts, reading: ObjectReading, viaLine: string, idKey: string) {
    this.facts = facts;
    this.reading = reading;
    this.idKey = idKey;
    this.framed = new FramedFields(viaLine);
    this.tail = Buffer.from(`${viaLine}\r\n${ACCEPT_RANGES}\r\n${KEEP_ALIVE}\r\n\r\n`, 'latin1');
    this.delivered = new PreparedRecords([
      [Tag.RespHeader, viaLine],
      [Tag.RespHeader, ACCEPT_RANGES],
      [Tag.VCL_call, 'DELIVER'],
      [Tag.VCL_return, 'deliver'],
    ]);
    this.sent = new PreparedRecords([
      [Tag.Filters, ''],
      [Tag.RespHeader, KEEP_ALIVE],
    ]);
  }

  /** The header of transaction ids has another name: what is plain is decided again. */
  renameId(idKey: string): void {
    this.idKey = idKey;
    this.heads.clear();
  }

  /** The head of an object that is hot and finished, or null. */
  find(oc: Oc): HotHead | null {
    const { facts, reading, heads, decoded } = this;
    const hot = heads.get(oc);
    if (hot !== undefined && hot.vxid === facts.vxidOf(oc)) return hot;
    const hits = facts.hitsOf(oc);
    if (hits < HITS || !this.isHot(oc, hits) || !facts.isFinished(oc)) return null;
    decoded.reset();
    reading.head(oc, decoded);
    if (decoded.n === 0) return null;
    if (heads.size >= MAX) heads.clear();
    const made = new HotHead(facts, reading, oc, decoded, this.idKey);
    heads.set(oc, made);
    return made;
  }

  /** Whether this is the second hit within about as many as there are places. With hits all over a million objects
   * every head would be made ready for one use otherwise, which costs more than it saves. */
  private isHot(oc: Oc, hits: number): boolean {
    const { noted } = this;
    const at = (oc & (NOTED - 1)) * 2;
    // The same hit may ask twice.
    if (noted[at] === oc) return hits > (noted[at + 1] as number);
    noted[at] = oc;
    noted[at + 1] = hits;
    return false;
  }
}

/** One name of it. */
export class IdHeader {
  readonly name: string;
  /** The name as fields of a message are found by it. */
  readonly key: string;
  /** The line up to its value. */
  readonly start: string;
  /** The name as HTTP/2 has it in front of a value. */
  readonly framed: Uint8Array;
  /** Since when it has this name, in epoch seconds; 0 from the beginning. An object from before may have come with a
   * field of the name, which a delivery takes away. */
  readonly since: number;

  constructor(name: string, since: number) {
    this.name = name;
    this.key = name.toLowerCase();
    this.start = `${name}: `;
    this.framed = nameOf(this.key);
    this.since = since;
  }
}
