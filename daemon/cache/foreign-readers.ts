// The readers on this thread of objects that another thread is fetching. That thread tells when an object has grown or is
// settled (peers.ts), and the readers here are called.
//
// A reader holds a reference to its object, so that a handle means the same object as long as anybody is attached to it.

import type { Turns } from '../turns/turns.ts';
import type { Oc } from './objcore.ts';
import type { Peers } from './peers.ts';
import type { ProgressReader, ProgressSource } from './roles.ts';
import { Transfer } from './transfer.ts';

export class ForeignReaders {
  private readonly peers: Peers;
  private readonly turns: Turns;
  private readonly transfers = new Map<Oc, Transfer>();

  constructor(peers: Peers, turns: Turns) {
    this.peers = peers;
    this.turns = turns;
  }

  attach(oc: Oc, reader: ProgressReader): ProgressSource {
    let transfer = this.transfers.get(oc);
    if (transfer === undefined) {
      transfer = new Transfer(0);
      this.transfers.set(oc, transfer);
      this.peers.reads(oc);
    }
    transfer.attach(reader);
    return { detach: (gone) => this.detach(oc, gone) };
  }

  private detach(oc: Oc, reader: ProgressReader): void {
    const transfer = this.transfers.get(oc);
    if (transfer === undefined) return;
    transfer.detach(reader);
    if (transfer.readerCount === 0) this.forget(oc);
  }

  /** The object has grown, or is settled. */
  notify(oc: Oc, isSettled: boolean): void {
    const transfer = this.transfers.get(oc);
    if (transfer === undefined) return;
    if (isSettled) this.forget(oc);
    transfer.notify(this.turns);
  }

  private forget(oc: Oc): void {
    if (this.transfers.delete(oc)) this.peers.readsNoMore(oc);
  }
}
