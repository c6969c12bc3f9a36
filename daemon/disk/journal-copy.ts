// One copy of the journal: entries one after the other, each with its length and checksum. The first says where the window
// begins and with which seed keys are hashed, a second kind says that what was copied from an older journal is complete. Two
// more name the file, so that a copy of it is known for one, and the time of a stop, after which nothing was invalidated.

import { crc32 } from 'node:zlib';
import { turns } from '../turns/turns.ts';
import type { Invalidation } from './invalidations.ts';

/** The first entry: `sequence` is the floor. */
export interface Beginning {
  readonly kind: 'begin';
  readonly sequence: number;
  /** JSON of Origin. */
  readonly text: string;
}

/** The end of what was copied; `sequence` is the newest number given out. */
export interface Completion {
  readonly kind: 'complete';
  readonly sequence: number;
}

/** The file that the entries were written to. */
export interface Place {
  readonly kind: 'place';
  readonly sequence: number;
  /** As DiskFile.identity(). */
  readonly text: string;
}

/** The last entry after a stop. */
export interface Closing {
  readonly kind: 'closed';
  readonly sequence: number;
  /** Seconds since 1970. */
  readonly at: number;
}

type JournalEntry = Invalidation | Beginning | Completion | Place | Closing;

/** The contents of a copy. */
export interface JournalCopy {
  readonly beginning: Beginning;
  readonly newest: number;
  readonly invalidations: readonly Invalidation[];
  /** The text of Place; null in journals of older versions. */
  readonly place: string | null;
  /** Seconds since 1970; null without a stop. */
  readonly closedAt: number | null;
}

/** The entries of a copy: null `copy` without a whole beginning; `isTorn` when bytes remain that are no entry. */
export interface ParsedCopy {
  readonly copy: JournalCopy | null;
  readonly isTorn: boolean;
}

const KINDS: readonly JournalEntry['kind'][] = [
  'key',
  'tag',
  'soft-key',
  'soft-tag',
  'ban',
  'begin',
  'complete',
  'all',
  'place',
  'closed',
];

/** Added to the kind of a soft purge whose lifetimes are upper bounds. */
const SHORTENS = 1 << 16;

/** Bytes of an entry before its text: length, checksum, kind, and five doubles. */
const ENTRY_HEAD = 52;

export function encodeEntry(entry: JournalEntry): Buffer {
  const text = Buffer.from('text' in entry ? entry.text : '');
  const bytes = Buffer.alloc(ENTRY_HEAD + text.length);
  const isOne = 'ttl' in entry;
  bytes.writeUInt32LE(bytes.length, 0);
  const shortens = isOne && entry.shortens === true;
  bytes.writeUInt32LE(KINDS.indexOf(entry.kind) + (shortens ? SHORTENS : 0), 8);
  bytes.writeDoubleLE(entry.sequence, 12);
  bytes.writeDoubleLE('at' in entry ? entry.at : 0, 20);
  bytes.writeDoubleLE(isOne ? entry.ttl : 0, 28);
  bytes.writeDoubleLE(isOne ? entry.grace : 0, 36);
  bytes.writeDoubleLE(isOne ? entry.keep : 0, 44);
  bytes.set(text, ENTRY_HEAD);
  bytes.writeUInt32LE(crc32(bytes.subarray(8)), 4);
  return bytes;
}

/** Reads a copy up to the first byte that is wrong; over several turns, since it may have 200,000 entries. */
export async function parseCopy(bytes: Buffer): Promise<ParsedCopy> {
  let beginning: Beginning | null = null;
  let newest = -1;
  const invalidations: Invalidation[] = [];
  let place: string | null = null;
  let closedAt: number | null = null;
  let at = 0;
  while (at < bytes.length) {
    const entry = entryAt(bytes, at);
    // The beginning comes first, and only there.
    if (entry === null || (entry.kind === 'begin') !== (at === 0)) break;
    closedAt = entry.kind === 'closed' ? entry.at : null;
    if (entry.kind === 'begin') beginning = entry;
    else if (entry.kind === 'complete') newest = entry.sequence;
    else if (entry.kind === 'place') place = entry.text;
    else if (entry.kind !== 'closed') invalidations.push(entry);
    at += bytes.readUInt32LE(at);
    if (!turns.mayContinue()) await turns.next();
  }
  const isTorn = at < bytes.length;
  if (beginning === null || newest < 0) return { copy: null, isTorn };
  const last = invalidations.at(-1)?.sequence ?? 0;
  const contents = { beginning, newest: Math.max(newest, last), invalidations, place, closedAt };
  return { copy: contents, isTorn };
}

function entryAt(bytes: Buffer, at: number): JournalEntry | null {
  if (bytes.length - at < ENTRY_HEAD) return null;
  const length = bytes.readUInt32LE(at);
  if (length < ENTRY_HEAD || length > bytes.length - at) return null;
  const entry = bytes.subarray(at, at + length);
  if (crc32(entry.subarray(8)) !== entry.readUInt32LE(4)) return null;
  const shortens = entry.readUInt32LE(8) >= SHORTENS;
  const kind = KINDS[entry.readUInt32LE(8) - (shortens ? SHORTENS : 0)];
  const sequence = entry.readDoubleLE(12);
  const text = entry.toString('utf8', ENTRY_HEAD);
  if (kind === undefined) return null;
  if (kind === 'begin' || kind === 'place') return { kind, sequence, text };
  if (kind === 'complete') return { kind, sequence };
  if (kind === 'closed') return { kind, sequence, at: entry.readDoubleLE(20) };
  const [atTime, ttl, grace, keep] = [20, 28, 36, 44].map((place) => entry.readDoubleLE(place)) as [
    number,
    number,
    number,
    number,
  ];
  return { kind, sequence, text, at: atTime, ttl, grace, keep, ...(shortens && { shortens }) };
}
