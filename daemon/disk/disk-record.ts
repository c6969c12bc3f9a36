// The layout of an object on disk: a fixed head, what is needed to answer (key, surrogate keys, facts, response head, annex),
// a checksum of each block of the body, and the body.
//
// The first checksum covers everything before the body, so that one read decides whether a record is an object at all and
// whose it is; each block of the body has its own, so that a body is sent block by block and no byte unchecked. A checksum is
// no signature: bytes of a body may look like a record. Therefore records are only read where the index, a segment's directory
// or the end of the record before say that one begins, and never searched for.

import { crc32 } from 'node:zlib';
import type { TierBody, TierRecord } from '../cache/tier-events.ts';

/** Body bytes that one checksum covers, and that are read at once. */
export const BLOCK = 64 * 1024;
/** Records begin on a multiple of this many bytes. */
export const RECORD_UNIT = 64;
/** Bytes of a record's fixed head. */
const RECORD_HEAD = 64;
/** Most bytes before the body. */
const MOST_META = 4 << 20;

const MAGIC = 0x4f445850;

/** An object as it is stored. The facts are in the cache's own encoding: this module does not look into them. */
export interface DiskObject extends TierRecord {
  readonly body: Uint8Array | TierBody;
}

/** All of a record but its body. */
export interface DiskMeta extends TierRecord {
  readonly bodyLength: number;
  /** Checksums of the body's blocks. */
  readonly sums: Uint32Array;
  /** Byte of the record where the body begins. */
  readonly bodyAt: number;
  /** Bytes of the whole record, a multiple of RECORD_UNIT. */
  readonly length: number;
}

/** Bytes of an object's record; infinite when what precedes the body is too long. */
export function recordLength(object: DiskObject): number {
  const meta = metaBytes(object);
  return meta > MOST_META ? Number.POSITIVE_INFINITY : roundUp(meta + object.body.length);
}

/** Bytes of an object's record before the body. */
export function metaBytes({ key, tags, facts, head, annex, body }: DiskObject): number {
  const texts = Buffer.byteLength(key) + Buffer.byteLength(JSON.stringify(tags));
  const sums = Math.ceil(body.length / BLOCK) * 4;
  return RECORD_HEAD + texts + facts.length + head.length + annex.length + sums;
}

/** A body's bytes from `at` on, up to `length` of them, or to its end; fails when they are not there. */
export function bodyPart(body: Uint8Array | TierBody, at: number, length: number): Uint8Array {
  const end = Math.min(body.length, at + length);
  if (body instanceof Uint8Array) return body.subarray(at, end);
  const part = Buffer.allocUnsafe(end - at);
  if (!body.copy(at, part)) throw new Error('a body has gone');
  return part;
}

/** Bytes of a record, whose length is finite, before the body. `sums`: of its blocks. */
export function encodeMeta(object: DiskObject, segment: number, sums: readonly number[]): Buffer {
  const key = Buffer.from(object.key);
  const tags = Buffer.from(JSON.stringify(object.tags));
  const parts = [key, tags, object.facts, object.head, object.annex];
  const meta = metaBytes(object);
  const record = Buffer.alloc(meta);
  record.writeUInt32LE(MAGIC, 0);
  record.writeUInt32LE(segment, 8);
  record.writeUInt32LE(object.variant >>> 0, 12);
  record.writeDoubleLE(object.since, 16);
  record.writeDoubleLE(object.end, 24);
  record.writeDoubleLE(object.body.length, 32);
  let at = RECORD_HEAD;
  parts.forEach((part, i) => {
    record.writeUInt32LE(part.length, 40 + i * 4);
    record.set(part, at);
    at += part.length;
  });
  for (const sum of sums) {
    record.writeUInt32LE(sum, at);
    at += 4;
  }
  record.writeUInt32LE(crc32(record.subarray(8)), 4);
  return record;
}

/** The record of an object, whose length is finite, in the segment `segment`, as one piece. */
export function encodeRecord(object: DiskObject, segment: number): Buffer {
  const body = bodyPart(object.body, 0, object.body.length);
  const meta = encodeMeta(object, segment, sumsOf(body));
  const record = Buffer.allocUnsafe(roundUp(meta.length + body.length));
  record.set(meta);
  record.set(body, meta.length);
  return record.fill(0, meta.length + body.length);
}

/** Checksums of the blocks of a body, or of a part of one that begins with a block. */
export function sumsOf(bytes: Uint8Array): number[] {
  const sums: number[] = [];
  for (let at = 0; at < bytes.length; at += BLOCK) sums.push(crc32(bytes.subarray(at, at + BLOCK)));
  return sums;
}

/** Bytes before the body of the record that begins with `head`, RECORD_HEAD bytes; -1 when it is none of this segment. The
 * lengths are not checked yet: readRecord() does that with all of the bytes. */
export function metaLength(head: Buffer, segment: number): number {
  if (head.length < RECORD_HEAD || head.readUInt32LE(0) !== MAGIC || head.readUInt32LE(8) !== segment)
    return -1;
  const body = head.readDoubleLE(32);
  if (!(body >= 0) || !Number.isSafeInteger(body)) return -1;
  let meta = RECORD_HEAD + Math.ceil(body / BLOCK) * 4;
  for (let i = 0; i < 5; i++) meta += head.readUInt32LE(40 + i * 4);
  return meta <= MOST_META ? meta : -1;
}

/** All of a record but its body, from the metaLength() bytes before that; null when a bit of them is wrong. */
export function readRecord(meta: Buffer, segment: number): DiskMeta | null {
  if (metaLength(meta, segment) !== meta.length || crc32(meta.subarray(8)) !== meta.readUInt32LE(4))
    return null;
  let at = RECORD_HEAD;
  const part = (i: number): Buffer => {
    const length = meta.readUInt32LE(40 + i * 4);
    at += length;
    return meta.subarray(at - length, at);
  };
  const key = part(0).toString();
  const tags: readonly string[] = JSON.parse(part(1).toString());
  const [facts, head, annex] = [part(2), part(3), part(4)];
  const bodyLength = meta.readDoubleLE(32);
  const sums = new Uint32Array(Math.ceil(bodyLength / BLOCK));
  for (let i = 0; i < sums.length; i++) sums[i] = meta.readUInt32LE(at + i * 4);
  return {
    key,
    variant: meta.readUInt32LE(12),
    since: meta.readDoubleLE(16),
    end: meta.readDoubleLE(24),
    tags,
    facts,
    head,
    annex,
    bodyLength,
    sums,
    bodyAt: meta.length,
    length: roundUp(meta.length + bodyLength),
  };
}

/** Whether these are the bytes of a block of the body. */
export function isBlock(meta: DiskMeta, block: number, bytes: Uint8Array): boolean {
  return crc32(bytes) === meta.sums[block];
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / RECORD_UNIT) * RECORD_UNIT;
}
