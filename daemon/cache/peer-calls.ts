// What other threads tell this one of the cache they share (peers.ts is the other side): its requests that wait for a key
// are to look again, its readers of an object have more to read.

import type { CacheState } from './cache-state.ts';
import type { ForeignReaders } from './foreign-readers.ts';
import type { Oh } from './key-index.ts';
import { META, type Oc, STATE_FAILED, STATE_FINISHED, stateIn } from './objcore.ts';

export class PeerCalls {
  private readonly state: CacheState;
  private readonly foreign: ForeignReaders;

  constructor(state: CacheState, foreign: ForeignReaders) {
    this.state = state;
    this.foreign = foreign;
  }

  rush(oh: Oh, alone: boolean): void {
    this.state.objheads.rushOwn(oh, alone);
  }

  readerLeft(oc: Oc): void {
    this.state.transfers.get(oc)?.onConsume?.();
  }

  progress(oc: Oc): void {
    this.state.memory.sync();
    const state = stateIn(this.state.objcores.get(oc, META));
    this.foreign.notify(oc, state === STATE_FINISHED || state === STATE_FAILED);
  }
}
