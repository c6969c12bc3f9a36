// The layout of an objcore row: the metadata of one object. Positions, flags and states only; decision 15 has the rules for
// changing them.

/** Objcore handle: a row number, 0 is none. */
export type Oc = number;

/** Doubles of the row. Times in seconds, sizes in bytes. */
export const T_ORIGIN = 0;
export const TTL = 1;
export const GRACE = 2;
export const KEEP = 3;
/** Body bytes stored so far, consumed ones of a private object included. */
export const BODY_LENGTH = 4;

/** Words of the row, after the doubles. */
export const OBJHEAD = 10;
/** Flags, state and storage number. */
export const META = 11;
export const REFS = 12;
export const HITS = 13;
export const VXID = 14;
/** Block that holds the encoded head, and where in it the body starts (0: it does not). */
export const HEAD_BLOCK = 15;
export const INLINE_AT = 16;
/** First extent of the body beyond the head's block. */
export const EXTENT = 17;
export const LRU_PREV = 18;
export const LRU_NEXT = 19;
/** Ticks since the cache's epoch at the last move to the young end, and how many of them a second has. */
export const LRU_TIME = 20;
export const LRU_TICKS = 16;
/** The same word while one of several threads fetches the object: that thread's number plus one. */
export const FETCHER = LRU_TIME;
/** Position in the expiry heap plus one; 0 is not in it. */
export const HEAP_POS = 21;
/** The same word of an object that was taken out of the index: by a purge or a ban, or by one that has its slices now. */
export const WHY_GONE = HEAP_POS;
export const INVALIDATED = -1;
export const SLICES_PASSED_ON = -2;
/** Neighbours among the objects of one key. */
export const KEY_PREV = 22;
export const KEY_NEXT = 23;
/** Number of the newest ban this object was tested against. */
export const BAN = 24;
/** First link to the object's surrogate keys; before it has any, the number of the newest purge by key when its fetch began. */
export const SURROGATE = 25;
/** Block of the annex (object-store.ts); 0 is none. */
export const ANNEX = 26;
/** Hash of the variant (vary.ts), if all hashed objects of the key vary by the same headers; else 0. In a crowd: its member. */
export const VARIANT = 27;
/** The same word while the object is busy: the variant that it is expected to become (vary.ts); 0 is unknown. */
export const EXPECTED = VARIANT;
/** Even, since rows hold doubles. */
export const OBJCORE_WORDS = 28;

/** The same doubles as GRACE and KEEP while the object is busy and is to have the head of slices: the number of the slice that comes
 * with it, negative minus one once others were asked for, and the name of their set as a number, which is greater than any time. */
export const COMING_INDEX = GRACE;
export const COMING_SET = KEEP;

/** Bytes announced by the response, -1 when unknown: a double in the LRU's words, which are unused until the object is finished. */
export const ANNOUNCED = 9;

/** Added to REFS of a closed row: a free one, or briefly one whose blocks are being moved. A lookup without the lock that sees it
 * gives its reference back. */
export const CLOSED = 1 << 30;

/** Whether this is the reference count of an object, and not of a free row. */
export function isHeld(refs: number): boolean {
  return refs > 0 && refs < CLOSED;
}

/** Most objects removed together. Measured: the data of that many stays in the processor's caches. */
export const BATCH = 128;

/** Flags that the fetch sets through setAttributes. */
export const OF_HIT_MISS = 1 << 0;
export const OF_HIT_PASS = 1 << 1;
export const OF_GZIPPED = 1 << 2;
/** It was not streamed: visible only once it was complete. */
export const OF_UNSTREAMED = 1 << 3;
/** The annex is the plan of a page of edge-side includes. */
export const OF_ESI = 1 << 4;
/** Only for the requests that wait for it; later ones do not find it. */
export const OF_FOR_WAITERS = 1 << 5;
export const OF_UNCACHEABLE = 1 << 6;
/** The stored head and body are the response to a plain GET without changes. */
export const OF_PLAIN = 1 << 7;
/** A marker: the origin's response must not be shared. */
export const OF_MARKER = OF_HIT_MISS | OF_HIT_PASS;
/** The body was packed or unpacked here: the origin's ETag is not for these bytes. */
export const OF_RECODED = 1 << 15;
/** The origin failed: this object never hides or replaces older ones. */
export const OF_FAILURE = 1 << 19;
/** The response to a HEAD: without the body that its head announces. */
export const OF_HEAD_ALONE = 1 << 20;
/** The body is a slice of what the head describes, and the annex says which. */
export const OF_PART = 1 << 21;
/** Flags that setAttributes may change. */
export const OF_ATTRIBUTES = ((1 << 8) - 1) | OF_RECODED | OF_FAILURE | OF_HEAD_ALONE | OF_PART;
/** Flags of the cache itself. */
export const OF_PRIVATE = 1 << 8;
/** Removed from the index; freed with its last reference. */
export const OF_DYING = 1 << 9;
export const OF_HAS_VARY = 1 << 10;
export const OF_IN_LRU = 1 << 11;
/** Blocks may be larger than their bytes: they are shortened once there are no readers. */
export const OF_TRIM = 1 << 13;
/** SURROGATE is the first link to the object's keys. */
export const OF_TAGGED = 1 << 14;
/** The index holds one of the references. */
export const OF_INDEXED = 1 << 12;

const STATE_SHIFT = 16;
const STATE_MASK = 7;
const STORAGE_SHIFT = 22;

/** Life of an object: busy, then stream (the head is visible, hits attach), then finished or failed. */
export const STATE_BUSY = 1;
export const STATE_STREAM = 2;
export const STATE_FINISHED = 3;
export const STATE_FAILED = 4;
export type OcState = typeof STATE_BUSY | typeof STATE_STREAM | typeof STATE_FINISHED | typeof STATE_FAILED;

export function stateIn(meta: number): OcState {
  return ((meta >>> STATE_SHIFT) & STATE_MASK) as OcState;
}

export function withState(meta: number, state: OcState): number {
  return (meta & ~(STATE_MASK << STATE_SHIFT)) | (state << STATE_SHIFT);
}

/** Number of the storage; meaningful once a head is stored. */
export function storageIn(meta: number): number {
  return meta >>> STORAGE_SHIFT;
}

export function withStorage(meta: number, storage: number): number {
  return (meta & ((1 << STORAGE_SHIFT) - 1)) | (storage << STORAGE_SHIFT);
}
