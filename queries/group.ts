// Gathers log records into transactions and transactions into groups, as the -g option names them. A
// transaction begins with Begin and ends with End; Link and Begin records tie children to parents. A group
// is complete when its root and all descendants are, and comes out root first, level by level.
//
// Special case: children may end before their parent's Begin arrives (a parent is then kept empty until it comes),
// restarts stay on their parent's level, and transactions that never end are closed by force: after `timeout` seconds,
// when more than `limit` transactions are open, or by flush(). A VSL record then says why.

import { encodeRecord, RecordCursor, recordText, VXID_MASK } from '../protocol/log-record.ts';
import type { Grouping, LogTransaction } from '../protocol/messages.ts';
import { Tag } from '../protocol/tables/tags.ts';

export interface GrouperOptions {
  grouping: Grouping;
  /** Seconds that a transaction may stay open; 120 when absent. */
  timeout?: number;
  /** Transactions that may be open at a time; 1000 when absent. */
  limit?: number;
  /** Whether push() should stop after a record, so that complete groups are handled first. */
  paused?: () => boolean;
}

/** Takes one complete group; the first transaction is its root. */
export type GroupSink = (group: LogTransaction[]) => void;

type Kind = LogTransaction['type'];
const KINDS: Readonly<Record<string, Kind>> = { sess: 'session', req: 'request', bereq: 'bereq' };

class Open {
  readonly vxid: number;
  readonly since: number;
  kind: Kind | null = null;
  reason = '';
  hasBegun = false;
  complete = false;
  parent: Open | null = null;
  readonly children: Open[] = [];
  bytes: Buffer = Buffer.allocUnsafe(1024);
  length = 0;

  constructor(vxid: number, since: number) {
    this.vxid = vxid;
    this.since = since;
  }

  append(src: Uint8Array, from: number, to: number): void {
    const need = this.length + to - from;
    if (need > this.bytes.length) {
      const more = Buffer.allocUnsafe(Math.max(need, this.bytes.length * 2));
      this.bytes.copy(more, 0, 0, this.length);
      this.bytes = more;
    }
    this.bytes.set(from === 0 && to === src.length ? src : src.subarray(from, to), this.length);
    this.length = need;
  }

  note(tag: number, text: string): void {
    const side = this.kind === 'request' ? 'c' : this.kind === 'bereq' ? 'b' : '-';
    const record = encodeRecord(tag, this.vxid, side, text);
    this.append(record, 0, record.length);
  }
}

/** Bytes that a transaction takes before its first record (estimated). */
const OVERHEAD = 1400;

const never = (): boolean => false;

export class Grouper {
  private readonly grouping: Grouping;
  private readonly timeout: number;
  private readonly limit: number;
  private readonly sink: GroupSink;
  private now = 0;
  private readonly cursor = new RecordCursor(new Uint8Array());
  private readonly open = new Map<number, Open>();
  /** Those not complete, oldest first. */
  private readonly waiting = new Set<Open>();
  private readonly paused: () => boolean;
  /** Bytes that may be held; beyond them the oldest transactions are closed as beyond `limit`. */
  maxBytes = Number.POSITIVE_INFINITY;
  /** Bytes held. */
  private bytes = 0;
  /** No group begins any more. */
  private closed = false;

  constructor(options: GrouperOptions, sink: GroupSink) {
    this.grouping = options.grouping;
    this.timeout = options.timeout ?? 120;
    this.limit = options.limit ?? 1000;
    this.sink = sink;
    this.paused = options.paused ?? never;
  }

  /** Transactions held. */
  get size(): number {
    return this.open.size;
  }

  /** Takes records back to back, from the index `from` on; `now` in seconds, only compared with itself. Returns the
   * index of the next record: the length, unless it was paused. */
  push(b: Uint8Array, now: number, from = 0): number {
    this.now = now;
    if (this.closed && (this.grouping === 'raw' || this.open.size === 0)) return b.length;
    const cursor = this.cursor.over(b, from);
    while (cursor.next()) {
      const { at, end, vxid } = cursor;
      if (this.grouping === 'raw') this.raw(b, at, end, vxid);
      else if (vxid !== 0) this.record(b, at, end, vxid);
      if (this.paused()) return end;
    }
    return b.length;
  }

  /** Ids of the transactions held. */
  ids(): Set<number> {
    return new Set(this.open.keys());
  }

  /** From here on only what belongs to a group counts that has hasBegun. */
  beginNoMore(): void {
    this.closed = true;
    this.forget((root) => !root.hasBegun);
  }

  /** Only a group counts that begins from here on, with what has come of it: children that ended before their parent began. */
  beginHere(): void {
    this.forget((root) => root.hasBegun);
  }

  private forget(gone: (root: Open) => boolean): void {
    for (const tx of [...this.open.values()]) {
      let root = tx;
      while (root.parent !== null) root = root.parent;
      if (!gone(root)) continue;
      this.open.delete(tx.vxid);
      this.waiting.delete(tx);
      this.bytes = Math.max(0, this.bytes - tx.length - OVERHEAD);
    }
  }

  /** Closes what has been open for too long. */
  expire(now: number): void {
    this.now = now;
    for (const tx of this.waiting) {
      if (now - tx.since < this.timeout) return;
      this.force(tx, 'timeout');
    }
  }

  /** Closes everything: the end of the log, or a new writer whose ids mean other transactions. */
  flush(): void {
    for (const tx of [...this.waiting]) if (this.waiting.has(tx)) this.force(tx, 'flush');
    this.open.clear();
    this.waiting.clear();
    this.bytes = 0;
  }

  /** Drops everything without showing it. */
  clear(): void {
    this.open.clear();
    this.waiting.clear();
    this.bytes = 0;
  }

  private raw(b: Uint8Array, at: number, end: number, vxid: number): void {
    // Tag 0 fills holes and is no record.
    if (b[at + 3] === 0) return;
    this.sink([{ level: 0, type: 'raw', reason: '', vxid, parent: 0, records: b.subarray(at, end) }]);
  }

  private record(b: Uint8Array, at: number, end: number, vxid: number): void {
    const tag = b[at + 3] as number;
    let tx = this.open.get(vxid);
    if (tx === undefined) {
      if (tag !== Tag.Begin || (this.closed && !this.belongs(b, at))) return;
      tx = this.add(vxid);
    }
    if (tag === Tag.Begin) this.begin(tx, b, at, end);
    else {
      // Nothing of a transaction counts before its own Begin.
      if (!tx.hasBegun) return;
      this.bytes += end - at;
      tx.append(b, at, end);
      if (tag === Tag.Link) this.link(tx, recordText(b, at));
      else if (tag === Tag.End) {
        if (!tx.complete && tx.kind === null) tx.note(Tag.VSL, 'vtx of unknown type marked complete');
        this.finish(tx);
      }
    }
    if (this.timeout === 0) this.expire(this.now);
    while (this.open.size > this.limit || this.bytes > this.maxBytes) {
      const oldest = this.waiting.values().next().value;
      if (oldest === undefined) break;
      this.force(oldest, 'store overflow');
    }
  }

  /** Whether a Begin record is that of a child of what is open. */
  private belongs(b: Uint8Array, at: number): boolean {
    const relation = parseRelation(recordText(b, at));
    if (typeof relation === 'string' || this.grouping === 'vxid') return false;
    if (this.grouping === 'request' && relation.kind === 'request' && relation.reason === 'rxreq')
      return false;
    return this.open.has(relation.vxid);
  }

  private add(vxid: number): Open {
    const tx = new Open(vxid, this.now);
    this.bytes += OVERHEAD;
    this.open.set(vxid, tx);
    this.waiting.add(tx);
    return tx;
  }

  private begin(tx: Open, b: Uint8Array, at: number, end: number): void {
    tx.append(b, at, end);
    const text = recordText(b, at);
    if (tx.hasBegun) {
      tx.note(Tag.VSL, `duplicate begin (${tx.vxid}:Begin "${text}")`);
      return;
    }
    tx.hasBegun = true;
    const relation = parseRelation(text);
    if (typeof relation === 'string') {
      tx.note(Tag.VSL, `${relation} (${tx.vxid}:Begin "${text}")`);
      tx.kind = null;
      return;
    }
    tx.kind = relation.kind;
    tx.reason = relation.reason;
    if (this.grouping === 'vxid') {
      if (relation.vxid === tx.vxid) tx.note(Tag.VSL, `link to self (${tx.vxid}:Begin "${text}")`);
      return;
    }
    if (relation.vxid === tx.vxid) tx.note(Tag.VSL, `link to self (${tx.vxid}:Begin "${text}")`);
    else if (tx.parent !== null) {
      if (tx.parent.vxid !== relation.vxid) tx.note(Tag.VSL, `link mismatch (${tx.vxid}:Begin "${text}")`);
    } else if (
      relation.vxid !== 0 &&
      !(this.grouping === 'request' && relation.kind === 'request' && relation.reason === 'rxreq')
    ) {
      const parent = this.open.get(relation.vxid) ?? this.add(relation.vxid);
      this.tie(parent, tx);
    }
  }

  private link(tx: Open, text: string): void {
    const relation = parseRelation(text);
    if (typeof relation === 'string') {
      tx.note(Tag.VSL, `${relation} (${tx.vxid}:Link "${text}")`);
      return;
    }
    if (this.grouping === 'vxid' || relation.vxid === 0) return;
    if (this.grouping === 'request' && relation.kind === 'request' && relation.reason === 'rxreq') return;
    if (relation.vxid === tx.vxid) {
      tx.note(Tag.VSL, `link to self (${tx.vxid}:Link "${text}")`);
      return;
    }
    const child = this.open.get(relation.vxid) ?? this.add(relation.vxid);
    if (child.parent === tx) return;
    if (child.parent !== null) {
      tx.note(Tag.VSL, `duplicate link (${tx.vxid}:Link "${text}")`);
      return;
    }
    child.kind ??= relation.kind;
    this.tie(tx, child);
  }

  private tie(parent: Open, child: Open): void {
    for (let up: Open | null = parent; up !== null; up = up.parent) if (up === child) return;
    child.parent = parent;
    parent.children.push(child);
  }

  private finish(tx: Open): void {
    if (tx.complete) return;
    tx.complete = true;
    this.waiting.delete(tx);
    let root = tx;
    while (root.parent !== null) root = root.parent;
    if (whole(root)) this.emit(root);
  }

  private force(tx: Open, why: string): void {
    if (!tx.hasBegun && tx.kind !== null)
      tx.note(Tag.Begin, `${tx.kind === 'bereq' ? 'bereq' : 'req'} 0 synth`);
    if (tx.hasBegun || tx.kind !== null) {
      tx.note(Tag.VSL, why);
      tx.note(Tag.End, 'synth');
    }
    this.finish(tx);
  }

  private emit(root: Open): void {
    const group: LogTransaction[] = [];
    const line: { tx: Open; level: number }[] = [{ tx: root, level: 1 }];
    for (let i = 0; i < line.length; i++) {
      const { tx, level } = line[i] as { tx: Open; level: number };
      this.open.delete(tx.vxid);
      this.bytes = Math.max(0, this.bytes - tx.length - OVERHEAD);
      if (tx.length > 0) {
        group.push({
          level,
          type: tx.kind ?? 'unknown',
          reason: tx.reason,
          vxid: tx.vxid,
          parent: tx.parent?.vxid ?? 0,
          records: tx.bytes.subarray(0, tx.length),
        });
      }
      for (const child of tx.children) {
        line.push({ tx: child, level: child.reason === 'restart' ? level : level + 1 });
      }
    }
    const top = root.kind;
    if (group.length === 0 || (this.grouping === 'session' && top !== 'session')) return;
    if (this.grouping === 'request' && top !== 'request') return;
    this.sink(group);
  }
}

function whole(tx: Open): boolean {
  return tx.complete && tx.children.every(whole);
}

/** A Begin or Link text: type, id, reason. Or what is wrong with it. */
function parseRelation(text: string): { kind: Kind; vxid: number; reason: string } | string {
  const m = /^(\S+) (\d+) (\S+)/.exec(text);
  if (m === null) return 'parse error';
  const kind = KINDS[m[1] as string];
  return kind === undefined
    ? 'unknown vxid type'
    : { kind, vxid: idOf(m[2] as string), reason: m[3] as string };
}

/** Newer releases count on beyond 30 bits; records keep the low 30 of them (binary-log.ts), so do texts. */
function idOf(digits: string): number {
  return digits.length < 10 ? Number(digits) : Number(BigInt(digits) & BigInt(VXID_MASK));
}
