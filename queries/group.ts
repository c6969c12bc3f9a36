// Collects log records into transactions and transactions into groups, by the modes of -g. A transaction begins with
// Begin and ends with End; Link and Begin records connect children to parents. A group is complete when its root and
// all descendants are, and is emitted root first, level by level. Special case: children may end before their
// parent's Begin arrives (an empty parent is kept until then), restarts stay on their parent's level, and unfinished
// transactions are closed by force: after `timeout` seconds, if more than `limit` transactions are open, or by
// flush(). A VSL record then gives the reason.

import { encodeRecord, RecordCursor, recordText, VXID_MASK } from '../protocol/log-record.ts';
import type { Grouping, LogTransaction } from '../protocol/messages.ts';
import { Tag } from '../protocol/tables/tags.ts';

export interface GrouperOptions {
  grouping: Grouping;
  /** Seconds that a transaction may stay open; 120 if absent. */
  timeout?: number;
  /** Maximum open transactions; 1000 if absent. */
  limit?: number;
  /** Should push() stop after a record, so that complete groups are handled first? */
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

/** Estimated bytes of a transaction before its first record. */
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
  /** Maximum bytes held; beyond them the oldest transactions are closed as beyond `limit`. */
  maxBytes = Number.POSITIVE_INFINITY;
  /** Bytes held. */
  private bytes = 0;
  /** No new groups are accepted. */
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

  /** Takes contiguous records, starting at index `from`; `now` in seconds, only compared with itself. Returns the
   * index of the next record: the length, unless paused. */
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

  /** From now on only groups that have begun are continued. */
  beginNoMore(): void {
    this.closed = true;
    this.forget((root) => !root.hasBegun);
  }

  /** Only groups that begin from now on are emitted, including their children that ended before. */
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

  /** Closes transactions that have been open for too long. */
  expire(now: number): void {
    this.now = now;
    for (const tx of this.waiting) {
      if (now - tx.since < this.timeout) return;
      this.force(tx, 'timeout');
    }
  }

  /** Closes everything: at the end of the log, or for a new writer whose ids mean other transactions. */
  flush(): void {
    for (const tx of [...this.waiting]) if (this.waiting.has(tx)) this.force(tx, 'flush');
    this.open.clear();
    this.waiting.clear();
    this.bytes = 0;
  }

  /** Drops everything without emitting it. */
  clear(): void {
    this.open.clear();
    this.waiting.clear();
    this.bytes = 0;
  }

  private raw(b: Uint8Array, at: number, end: number, vxid: number): void {
    // Tag 0 fills holes and is not a record.
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
      // Records before the Begin of their transaction are ignored.
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

  /** Is this the Begin record of a child of an open transaction? */
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

/** Parses a Begin or Link text: type, id, reason. Or returns an error. */
function parseRelation(text: string): { kind: Kind; vxid: number; reason: string } | string {
  const m = /^(\S+) (\d+) (\S+)/.exec(text);
  if (m === null) return 'parse error';
  const kind = KINDS[m[1] as string];
  return kind === undefined
    ? 'unknown vxid type'
    : { kind, vxid: idOf(m[2] as string), reason: m[3] as string };
}

/** Newer releases count beyond 30 bits; records keep the low 30 of them (binary-log.ts), as do texts here. */
function idOf(digits: string): number {
  return digits.length < 10 ? Number(digits) : Number(BigInt(digits) & BigInt(VXID_MASK));
}
