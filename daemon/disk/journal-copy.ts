// One copy of the journal: entries one after the other, each with its length and checksum. The first says where the window
// begins and with which seed keys are hashed, a second kind says that what was copied from an older journal is complete.

import { crc32 } from 'node:zlib';
import { turns } from '../turns/turns.ts';
import type { Invalidation, InvalidationKind } from './invalidations.ts';

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

type JournalEntry = Invalidation | Beginning | Completion;

/** The contents of a copy. */
export interface JournalCopy {
  readonly beginning: Beginning;
  readonly newest: number;
  readonly invalidations: readonly Invalidation[];
}

/** The entries of a copy: null `copy` without a whole beginning; `isTorn` when bytes remain that are no entry. */
export interface ParsedCopy {
  readonly copy: JournalCopy | null;
  readonly isTorn: boolean;
}

const KINDS: readonly (InvalidationKind | 'begin' | 'complete')[] = [
  'key',
  'tag',
  'soft-key',
  'soft-tag',
  'ban',
  'begin',
  'complete',
  'all',
];

/** Bytes of an entry before its text: length, checksum, kind, and five doubles. */
const ENTRY_HEAD = 52;

export function encodeEntry(entry: JournalEntry): Buffer {
  const text = Buffer.from('text' in entry ? entry.text : '');
  const bytes = Buffer.alloc(ENTRY_HEAD + text.length);
  const isOne = 'at' in entry;
  bytes.writeUInt32LE(bytes.length, 0);
  bytes.writeUInt32LE(KINDS.indexOf(entry.kind), 8);
  bytes.writeDoubleLE(entry.sequence, 12);
  bytes.writeDoubleLE(isOne ? entry.at : 0, 20);
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
  let at = 0;
  while (at < bytes.length) {
    const entry = entryAt(bytes, at);
    // The beginning comes first, and only there.
    if (entry === null || (entry.kind === 'begin') !== (at === 0)) break;
    if (entry.kind === 'begin') beginning = entry;
    else if (entry.kind === 'complete') newest = entry.sequence;
    else invalidations.push(entry);
    at += bytes.readUInt32LE(at);
    if (!turns.mayContinue()) await turns.next();
  }
  const isTorn = at < bytes.length;
  if (beginning === null || newest < 0) return { copy: null, isTorn };
  const last = invalidations.at(-1)?.sequence ?? 0;
  return { copy: { beginning, newest: Math.max(newest, last), invalidations }, isTorn };
}

function entryAt(bytes: Buffer, at: number): JournalEntry | null {
  if (bytes.length - at < ENTRY_HEAD) return null;
  const length = bytes.readUInt32LE(at);
  if (length < ENTRY_HEAD || length > bytes.length - at) return null;
  const entry = bytes.subarray(at, at + length);
  if (crc32(entry.subarray(8)) !== entry.readUInt32LE(4)) return null;
  const kind = KINDS[entry.readUInt32LE(8)];
  const sequence = entry.readDoubleLE(12);
  const text = entry.toString('utf8', ENTRY_HEAD);
  if (kind === undefined) return null;
  if (kind === 'begin') return { kind, sequence, text };
  if (kind === 'complete') return { kind, sequence };
  const [atTime, ttl, grace, keep] = [20, 28, 36, 44].map((place) => entry.readDoubleLE(place)) as [
    number,
    number,
    number,
    number,
  ];
  return { kind, sequence, text, at: atTime, ttl, grace, keep };
}
