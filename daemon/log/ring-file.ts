// Creates the file of a log ring and reserves all its space at once, by writing zeros: Node has no fallocate(2).
//
// Special case: on a file system that is smaller than the requested ring, the ring is smaller too.

import { closeSync, renameSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { createOwn, type FileAccess } from '../../protocol/files/own-file.ts';
import {
  H_MAGIC,
  H_SEGMENT_SIZE,
  H_SEGMENTS,
  H_WANTED,
  HEADER_SIZE,
  putU64,
  RING_MAGIC,
  ringShape,
} from './ring-format.ts';

/** Zeros written at a time (chosen): few writes, little memory. */
const PIECE = 1024 * 1024;
/** The smallest useful ring, and the share of the free space that a reduced ring takes (both chosen): counters and
 * other files of the directory need room too. */
const SMALLEST = 1024 * 1024;
const SHARE = 0.9;

/**
 * Creates an empty ring of about `size` bytes at `path`, replacing an existing file atomically, and reserves its space.
 * With less room the ring is smaller: containers give 64 MB to /dev/shm, and a shorter log is better than no start.
 * Throws when there is no room for the smallest one. Returns its size.
 */
export function createRing(path: string, size: number, access: FileAccess = { mode: 0o600 }): number {
  const taken = fitting(dirname(path), size);
  const shape = ringShape(taken);
  const fresh = `${path}.${process.pid}.new`;
  const fd = createOwn(fresh, access);
  try {
    reserve(fd, HEADER_SIZE + shape.segments * shape.segmentSize);
    const head = Buffer.alloc(HEADER_SIZE);
    head.writeUInt32LE(RING_MAGIC, H_MAGIC);
    head.writeUInt32LE(shape.segments, H_SEGMENTS);
    putU64(head, shape.segmentSize, H_SEGMENT_SIZE);
    putU64(head, size, H_WANTED);
    writeSync(fd, head, 0, HEADER_SIZE, 0);
  } catch (cause) {
    unlinkSync(fresh);
    throw noRoom((cause as Error).message, cause);
  } finally {
    closeSync(fd);
  }
  renameSync(fresh, path);
  return taken;
}

/** The part of `size` that the directory has room for. */
function fitting(directory: string, size: number): number {
  const { bsize, blocks, bavail } = statfsSync(directory);
  // A file system without blocks has no limit.
  if (blocks === 0 || bavail * bsize * SHARE >= size) return size;
  const room = Math.floor(bavail * bsize * SHARE);
  if (room < SMALLEST) throw noRoom(`${Math.floor((bavail * bsize) / 1024)} KB are free`);
  return room;
}

function noRoom(why: string, cause?: unknown): Error {
  return new Error(
    `No room for the log in the working directory (${why}): make room for a megabyte or more, give a smaller -l, or another directory with -n`,
    { cause },
  );
}

function reserve(fd: number, bytes: number): void {
  const zeros = Buffer.alloc(PIECE);
  for (let at = 0; at < bytes; ) at += writeSync(fd, zeros, 0, Math.min(PIECE, bytes - at), at);
}
