// Reads all objects on disk and compares them with their checksums. What is damaged is not found any more.

import type { IndexEntry } from './disk-index.ts';
import type { DiskFigures } from './disk-options.ts';
import type { DiskSource } from './disk-reader.ts';
import { RECORD_UNIT } from './disk-record.ts';
import { type DiskSegment, firstBytes } from './disk-segment.ts';

export interface DiskReport {
  /** Objects read, and the bytes of their records. */
  objects: number;
  bytes: number;
  damaged: number;
  /** Objects that the device failed to read; they stay. */
  unreadable: number;
}

/** One object after the other, as they are now: what is stored meanwhile is not read. */
export async function checkObjects(source: DiskSource, figures: DiskFigures): Promise<DiskReport> {
  const report: DiskReport = { objects: 0, bytes: 0, damaged: 0, unreadable: 0 };
  for (const number of [...source.segments.keys()]) {
    const segment = source.segments.get(number);
    if (segment === undefined) continue;
    segment.begin();
    try {
      await source.index.overSegment(number, async (entry) => {
        report.objects++;
        try {
          const bytes = await wholeBytes(segment, entry);
          report.bytes += bytes ?? 0;
          if (bytes !== null) return;
          report.damaged++;
          figures.c_checksum++;
          source.index.drop(entry);
        } catch {
          report.unreadable++;
          figures.c_read_fail++;
        }
      });
    } finally {
      await segment.done();
    }
  }
  return report;
}

/** Bytes of the record at a byte; null when one of them is wrong. */
async function wholeBytes(segment: DiskSegment, entry: IndexEntry): Promise<number | null> {
  const at = entry.at * RECORD_UNIT;
  const first = await segment.firstAt(at, entry.bytes, Buffer.allocUnsafe(firstBytes(entry.bytes)));
  const meta = await segment.metaAt(at, first);
  if (meta === null) return null;
  for (let block = 0; block < meta.sums.length; block++) {
    if ((await segment.blockAt(at, meta, block, first)) === null) return null;
  }
  return meta.length;
}
