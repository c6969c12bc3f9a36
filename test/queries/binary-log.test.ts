// Log files in pieces of any size, in the two-word form and in the three-word form of newer releases, which
// comes out as the two-word form.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { encodeRecord, LOG_FILE_MAGIC } from '../../protocol/log-record.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { LogFileDecoder } from '../../queries/binary-log.ts';
import { recordsOf } from '../harness/records.ts';

const FILE = readFileSync(new URL('fixtures/mixed.vsl', import.meta.url));
const NARROW = FILE.subarray(LOG_FILE_MAGIC.length);

/** The same file as newer releases write it; `version` in the two bits above the length. */
function widened(version: number): Buffer {
  const out: Uint8Array[] = [LOG_FILE_MAGIC];
  for (const { at, vxid, side, bytes } of recordsOf(NARROW)) {
    const head = Buffer.alloc(12);
    head.writeUInt32LE((NARROW.readUInt32LE(at) | (version << 16)) >>> 0, 0);
    head.writeUInt32LE(vxid, 4);
    head.writeUInt32LE(side === 'c' ? 0x4000_0000 : side === 'b' ? 0x8000_0000 : 0, 8);
    out.push(head, bytes.subarray(8));
  }
  return Buffer.concat(out);
}

function decode(bytes: Buffer, size: number): Buffer {
  const decoder = new LogFileDecoder();
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const records = decoder.push(bytes.subarray(at, at + size));
    if (records === null) throw new Error('refused');
    out.push(Buffer.from(records));
  }
  expect(decoder.valid).toBe(true);
  expect(decoder.left).toBe(0);
  return Buffer.concat(out);
}

describe('LogFileDecoder', () => {
  it.each([1, 7, 1000, 1 << 20])('reads two-word records in pieces of %d bytes', (size) => {
    expect(decode(FILE, size).equals(NARROW)).toBe(true);
  });

  it.each([
    [1, 1 << 20],
    [1, 4099],
    [0, 1 << 20],
  ])('reads three-word records of version %d in pieces of %d bytes', (version, size) => {
    expect(decode(widened(version), size).equals(NARROW)).toBe(true);
  });

  it.each([1 << 20, 4099])('reads the numbering of 7.7 in pieces of %d bytes', (size) => {
    const later = widened(1);
    later.write('VSL2', 0, 'latin1');
    // Three tags are gone: those after them moved up.
    const moved = (tag: number): number => tag - [7, 12, 86].filter((gone) => gone < tag).length;
    for (let at = 4; at < later.length; at += 12 + ((later.readUInt16LE(at) + 3) & ~3))
      later[at + 3] = moved(later[at + 3] as number);
    expect([moved(Tag.Begin), moved(Tag.Timestamp), moved(Tag.VdpAcct)]).toEqual([74, 78, 93]);
    expect(decode(later, size).equals(NARROW)).toBe(true);
  });

  it('keeps the low 30 bits of a long id, and the side', () => {
    const wide = Buffer.concat([LOG_FILE_MAGIC, Buffer.alloc(12), Buffer.from('/a\0\0')]);
    wide.writeUInt32LE(((Tag.ReqURL << 24) | (1 << 16) | 3) >>> 0, 4);
    wide.writeUInt32LE(0xc000_0007, 8);
    wide.writeUInt32LE(0x4000_0123, 12);
    expect(decode(wide, 1000).equals(encodeRecord(Tag.ReqURL, 7, 'c', '/a'))).toBe(true);
  });

  it('counts the bytes of a record that is cut off, and refuses what has no magic', () => {
    const decoder = new LogFileDecoder();
    const whole = decoder.push(FILE.subarray(0, 1003)) as Uint8Array;
    expect(whole.length + decoder.left).toBe(999);
    expect(decoder.left).toBeGreaterThan(0);
    expect(new LogFileDecoder().push(Buffer.from('VSX\0records'))).toBeNull();
    const short = new LogFileDecoder();
    short.push(Buffer.from('VS'));
    expect(short.valid).toBe(false);
  });
});
