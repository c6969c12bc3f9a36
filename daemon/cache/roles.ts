// The cache as its users see it: an interface for each role, of which each user holds those that it needs.
//
// Everything is named by handles (Oc), never by objects. Nothing here waits, and nothing calls into a state machine,
// except readers' progress (at once) and waiters' wake (deferred).

import type { LentBytes, StoredBytes } from '../http1/lent-bytes.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { Ban } from './ban/ban.ts';
import type { BanCount } from './ban/ban-count.ts';
import type { Attributes, SoftPurge } from './lifetimes.ts';
import type { LookupAnswer, LookupQuery, LookupResult } from './lookup-query.ts';
import type { Oc } from './objcore.ts';
import type { ChunkBytes, SlabStats } from './storage/slab.ts';
import type { VaryKey } from './vary.ts';
import type { Waiter } from './waiting-list.ts';

/** For a request that looks for an object. */
export interface Lookup {
  /** Finds what the key has for this request; `out` has the handles. */
  find(q: LookupQuery, out: LookupResult): LookupAnswer;
  /** Parks a waiter until the busy objects of the key are settled; to be called right after a BUSY answer. Returns
   * how to leave. The waiter looks up again and may have to wait again. */
  wait(key: string, waiter: Waiter): () => void;
  /** The same after an UNTESTED answer, until the waiter's turn to go on testing comes. */
  waitTurn(waiter: Waiter): () => void;
}

/** For a delivery from the cache. */
export interface Hits {
  /** Counts a hit on an object. */
  count(oc: Oc): void;
  /** Moves the object to the young end of its storage's LRU, at most once in lru_interval. */
  touch(oc: Oc, now: number): void;
}

/** For every holder of a handle: it names the object until its reference is given back. */
export interface References {
  ref(oc: Oc): void;
  /** Gives a reference back. With the last one of a busy object that was never filled, its waiters look again. */
  deref(oc: Oc): void;
}

/** For a fetch: it makes an object visible, and then whole. */
export interface Filling {
  /** An object outside the index, for a pass; the caller holds a reference. */
  newPrivate(): Oc;
  setAttributes(oc: Oc, a: Attributes): void;
  /** Stores the response head, replacing an earlier one and its body; false when there is no room. Storage
   * null takes any but Transient. A Content-Length says how much room the body gets at once. A private object's
   * reader gets the message itself: it stays as it is until takeBackHead(). */
  storeHead(oc: Oc, storage: string | null, msg: HttpMessage, vary: VaryKey | null): boolean;
  takeBackHead(oc: Oc): void;
  /** Makes a private object the place of a body without a head, a request's: it stays until its last reference goes, whoever
   * has read it. `length` is -1 when nobody knows it. False when there is no room. */
  beginBody(oc: Oc, storage: string, length: number): boolean;
  /** The body is complete. */
  endBody(oc: Oc): void;
  /** Appends body bytes; false when there is no room: the object is then to be failed. */
  readonly append: (oc: Oc, buf: LentBytes, start: number, end: number) => boolean;
  setGunzippedLength(oc: Oc, length: number): void;
  /** Keeps bytes beside the body: what a filter has found out about it. `flags` (OF_) are set with them. False when
   * there is no room. */
  setAnnex(oc: Oc, bytes: Uint8Array, flags?: number): boolean;
  /** Makes the head visible: hits attach from this moment, waiters look again. `uncacheable`: they will not find
   * an object to share, so all go at once. */
  unbusy(oc: Oc, uncacheable?: boolean): void;
  /** The body is complete. An object that was not streamed becomes visible only by this, as a whole. */
  finish(oc: Oc, uncacheable?: boolean): void;
  /** The fetch failed: nobody finds the object any more, readers learn it, waiters go on at once. */
  fail(oc: Oc): void;
  /** Whether somebody waits for this busy object. */
  hasWaiters(oc: Oc): boolean;
  /** Whether only the fetch itself (and the index) still holds the object. */
  isAbandoned(oc: Oc): boolean;
  /** Stored bytes that the one reader has not used up yet. */
  inTransit(oc: Oc): number;
  /** Has the fetch of a body for one reader called when that reader moved on or left. */
  onConsume(oc: Oc, moved: () => void): void;
}

/** Called when a streaming body grows, and once when it is finished or failed: synchronously, from append, finish
 * and fail, but of many readers some in a later turn. */
export interface ProgressReader {
  progress(): void;
}

/** The caller of a reader, for it to leave. */
export interface ProgressSource {
  detach(reader: ProgressReader): void;
}

/** Where a reader is in a body. */
export interface BodyPlace {
  /** Offset of the next byte. */
  readonly at: number;
}

/** For a delivery, and for a fetch that takes over the body of a stale object: the bytes. */
export interface Reading {
  /** Decodes the stored head into a message, which keeps its kind and log. */
  head(oc: Oc, into: HttpMessage): void;
  /** The place of the encoded head, for head-codec's functions: its memory, and the position in it. */
  headChunk(oc: Oc): ChunkBytes;
  headAt(oc: Oc): number;
  /** Bytes of a gzipped body when unpacked; -1 when unknown. */
  gunzippedLength(oc: Oc): number;
  /** The bytes that setAnnex() has kept, a view that is valid while the reference is held; null when there are none. */
  annex(oc: Oc): Buffer | null;
  /** Bytes of the body so far. */
  bodyLength(oc: Oc): number;
  /** The length that the response announced; -1 when unknown or no longer of interest. */
  declaredLength(oc: Oc): number;
  /** Copies at most `max` body bytes from offset `from`; returns how many there were. */
  copyBody(oc: Oc, from: number, dst: Uint8Array, dstAt: number, max: number): number;
  /** A view of body bytes from `from` on, at most `max`, perhaps fewer; valid while the reference is held. */
  slice(oc: Oc, from: number, max: number, place?: BodyPlace): StoredBytes;
  /** For slice(): what finds the next bytes of a long body at once, where others read it too; undefined while the body is
   * in the making. Valid while the reference is held. */
  place(oc: Oc): BodyPlace | undefined;
  /** Has a reader called when the body grows, finishes or fails, or the head becomes visible; returns what it is to be
   * detached from, null when there is nothing to come any more. */
  onProgress(oc: Oc, reader: ProgressReader): ProgressSource | null;
  /** Body bytes before `upTo` may go: has effect on bodies for one reader only. */
  consume(oc: Oc, upTo: number): void;
}

/** For questions about an object. Times in seconds, tOrigin since the epoch. */
export interface Facts {
  isFinished(oc: Oc): boolean;
  isFailed(oc: Oc): boolean;
  /** Whether head and at least the beginning of the body can be read. */
  isDeliverable(oc: Oc): boolean;
  isUncacheable(oc: Oc): boolean;
  /** Whether it has one of these flags (OF_ of objcore.ts). */
  has(oc: Oc, flags: number): boolean;
  ttlOf(oc: Oc): number;
  graceOf(oc: Oc): number;
  keepOf(oc: Oc): number;
  tOriginOf(oc: Oc): number;
  hitsOf(oc: Oc): number;
  /** The transaction id of its fetch. */
  vxidOf(oc: Oc): number;
  storageOf(oc: Oc): string;
}

/** For purges, and for a fetch that replaces an object. */
export interface Invalidation {
  /** Purges all variants of a key, or makes them stale when `soft` is given; returns how many. Fetches under
   * way are cut off from the index, since what they bring may be older than the purge. `own` stays: the caller's own
   * object, which it has not begun to fetch, or has just fetched. */
  purge(key: string, now: number, soft?: SoftPurge | null, own?: Oc): number;
  /** The same for one object; 0 when it is gone already, 1 otherwise. */
  purgeOne(oc: Oc, now: number, soft?: SoftPurge | null): number;
  /** Purges the objects that carry one of the surrogate keys in a text, or makes them stale; returns how many. They
   * are as good as gone when it returns, though their memory may be given back a little later. */
  purgeTags(keys: string, soft: boolean, now: number): number;
  /** Takes an object out that another replaces; those who hold references go on. */
  kill(oc: Oc): void;
}

/** For commands and programs that set and list bans. */
export interface Bans {
  /** Adds a ban from command-line words; returns the error or null. Soft: objects that match become stale. */
  add(words: readonly string[], now: number, soft?: boolean): string | null;
  /** Adds a ban from one text, as ban() in a program has it; returns the error or null. */
  addText(text: string, now: number, soft?: boolean): string | null;
  /** A dry run of a ban, to be done step by step; a string is the error. `plainHash`: keys are URL and host. */
  count(words: readonly string[], now: number, plainHash: boolean): BanCount | string;
  /** All bans, newest first. Whoever takes many turns for them gets none that come meanwhile, and those that go only
   * perhaps. */
  list(): Iterable<Ban>;
  /** For each ban the objects that were last tested against it. Looks at every object: for debugging. */
  objectsByBan(): Promise<(ban: Ban) => readonly Oc[]>;
  /** Drops bans that nobody needs any more, after they were listed. */
  tidy(): void;
}

/** For the choice among storages, and for their figures. */
export interface Storages {
  names(): string[];
  /** The storage for the next object that asks for none: each but Transient in turn. */
  next(): string;
  /** Whether a body of so many bytes could be in a storage at all, were it empty. */
  couldHold(name: string | null, bytes: number): boolean;
  /** Configured bytes; 0 without a limit. */
  size(name: string): number;
  /** The SMA counters, with g_space; null when there is no such storage. */
  stats(name: string): (SlabStats & { g_space: number }) | null;
  /** A debug mode of this thread: what it frees is overwritten. */
  overwriteFreed(on: boolean): void;
}

/** For the worker's timer: work that no request waits for. */
export interface Maintenance {
  /** Does a bounded piece of the work that has been due longest, if any is due: removes expired objects, lets the ban
   * lurker work, goes on with purges by surrogate key. Returns the seconds until it is to be called again; 0 is soon,
   * in another turn. */
  step(now: number): number;
  /** Brings the figures up to date that cost too much to keep so all the time. */
  sample(): void;
}
