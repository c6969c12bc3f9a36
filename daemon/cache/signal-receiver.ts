// Handles the signals of other threads that serve the same cache (signals.ts), and keeps this thread's readers of objects
// that other threads fetch. A reader holds a reference, so the handle names the same object while a reader is attached.

import type { CacheState } from './cache-state.ts';
import type { Oh } from './key-index.ts';
import { META, type Oc, STATE_FAILED, STATE_FINISHED, stateIn } from './objcore.ts';
import { type ProgressReader, type ProgressSource, Transfer } from './transfers.ts';

export class SignalReceiver {
  private readonly state: CacheState;
  private readonly readers = new Map<Oc, Transfer>();

  constructor(state: CacheState) {
    this.state = state;
  }

  /** Objects of other threads' fetches that are read here. */
  get readCount(): number {
    return this.readers.size;
  }

  rush(oh: Oh, alone: boolean): void {
    this.state.objheads.rushOwn(oh, alone);
  }

  readerLeft(oc: Oc): void {
    this.state.transfers.get(oc)?.onConsume?.();
  }

  progress(oc: Oc): void {
    const { memory, objcores, turns } = this.state;
    memory.sync();
    const transfer = this.readers.get(oc);
    if (transfer === undefined) return;
    const state = stateIn(objcores.get(oc, META));
    if (state === STATE_FINISHED || state === STATE_FAILED) this.forget(oc);
    transfer.notify(turns);
  }

  attach(oc: Oc, reader: ProgressReader): ProgressSource {
    let transfer = this.readers.get(oc);
    if (transfer === undefined) {
      transfer = new Transfer(0);
      this.readers.set(oc, transfer);
      this.state.signals.addReader(oc);
    }
    transfer.attach(reader);
    return { detach: (gone) => this.detach(oc, gone) };
  }

  private detach(oc: Oc, reader: ProgressReader): void {
    const transfer = this.readers.get(oc);
    if (transfer === undefined) return;
    transfer.detach(reader);
    if (transfer.readerCount === 0) this.forget(oc);
  }

  private forget(oc: Oc): void {
    if (this.readers.delete(oc)) this.state.signals.removeReader(oc);
  }
}
