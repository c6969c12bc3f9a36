// Reads the bytes of an object by its handle: head, body, and a body that is still being fetched.
//
// The caller holds a reference to what it reads. Changes nothing but how much the single reader of a body in transit has
// consumed.

import type { LentBytes, StoredBytes } from '../http1/lent-bytes.ts';
import type { HttpMessage } from '../http1/message.ts';
import type { CacheState } from './cache-state.ts';
import { gunzippedLength } from './head-codec.ts';
import { BODY_LENGTH, META, type Oc, STATE_FAILED, STATE_FINISHED, stateIn } from './objcore.ts';
import type { ObjectStore } from './object-store.ts';
import type { SignalReceiver } from './signal-receiver.ts';
import type { ChunkBytes } from './storage/slab.ts';
import { BodyCursor } from './storage/stored-body.ts';
import type { ProgressReader, ProgressSource } from './transfers.ts';

export class ObjectReading {
  private readonly state: CacheState;
  private readonly store: ObjectStore;
  private readonly remote: SignalReceiver;

  constructor(state: CacheState, store: ObjectStore, remote: SignalReceiver) {
    this.state = state;
    this.store = store;
    this.remote = remote;
  }

  /** Decodes the stored head into a message, which keeps its kind and log. */
  head(oc: Oc, into: HttpMessage): void {
    this.store.head(oc, into);
  }

  /** Memory of the encoded head, for the functions of head-codec.ts; headAt() is the position in it. */
  headChunk(oc: Oc): ChunkBytes {
    return this.store.headChunk(oc);
  }

  headAt(oc: Oc): number {
    return this.store.headAt(oc);
  }

  /** Bytes of a gzipped body when unpacked; -1 when unknown. */
  gunzippedLength(oc: Oc): number {
    return gunzippedLength(this.store.headChunk(oc), this.store.headAt(oc));
  }

  /** The bytes stored by ObjectFilling.setAnnex(), a view that is valid while the reference is held; null when there are none. */
  annex(oc: Oc): Buffer | null {
    return this.store.annex(oc);
  }

  /** A copy of them, of an annex that may change. */
  annexCopy(oc: Oc): Buffer | null {
    return this.state.lock.hold(() => {
      const annex = this.store.annex(oc);
      return annex === null ? null : Buffer.from(annex);
    });
  }

  /** Bytes of the body so far. */
  bodyLength(oc: Oc): number {
    return this.state.objcores.getDouble(oc, BODY_LENGTH);
  }

  /** The length that the response announced; -1 when unknown, or when the body is finished. */
  declaredLength(oc: Oc): number {
    return this.store.announced(oc);
  }

  /** Copies at most `max` body bytes from offset `from`; returns how many there were. */
  copyBody(oc: Oc, from: number, dst: Uint8Array, dstAt: number, max: number): number {
    return this.store.copyBody(oc, from, dst, dstAt, max);
  }

  /** A view of body bytes from `from` on, at most `max`, perhaps fewer; valid while the reference is held. */
  slice(oc: Oc, from: number, max: number, place?: BodyCursor): StoredBytes {
    return this.store.slice(oc, from, max, place) as LentBytes as StoredBytes;
  }

  /** A cursor for slice(), which finds the next bytes of a long body in constant time however many readers it has; undefined
   * while the body is being fetched. Valid while the reference is held. */
  place(oc: Oc): BodyCursor | undefined {
    const isWhole = stateIn(this.state.objcores.get(oc, META)) === STATE_FINISHED;
    return isWhole && !this.store.inTransitOnly(oc) ? new BodyCursor() : undefined;
  }

  /** Attaches a reader, called when the body grows, finishes or fails, or the head becomes visible. Null when the object is
   * finished or failed already. */
  onProgress(oc: Oc, reader: ProgressReader): ProgressSource | null {
    return this.state.lock.hold(() => this.attach(oc, reader));
  }

  private attach(oc: Oc, reader: ProgressReader): ProgressSource | null {
    const { memory, transfers, objcores } = this.state;
    const state = stateIn(objcores.get(oc, META));
    if (state === STATE_FINISHED || state === STATE_FAILED) return null;
    if (memory.isShared && transfers.get(oc) === undefined) return this.remote.attach(oc, reader);
    const transfer = this.store.transferOf(oc);
    transfer.attach(reader);
    return transfer;
  }

  /** Frees body bytes before `upTo`: of bodies for one reader only. */
  consume(oc: Oc, upTo: number): void {
    this.state.lock.hold(() => this.store.consume(oc, upTo));
  }
}
