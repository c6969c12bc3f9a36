// A transfer: the part of an object that exists only while its bytes come in, or pass through to one reader. The readers
// that wait, the tail of the body, how much a private body's reader has used up. A plain JavaScript object, dropped
// with the fetch, so that cached objects have none.

import type { HttpMessage } from '../http1/message.ts';
import type { Turns } from '../turns/turns.ts';
import type { ProgressReader, ProgressSource } from './roles.ts';

export class Transfer implements ProgressSource {
  /** What a forced miss replaces once it is whole. */
  replaces: 'nothing' | 'variant' | 'all' = 'nothing';
  /** Body bytes the response announced; -1 when unknown. */
  expected = -1;
  /** The head of a private object for as long as its fetch lends it: its reader need not decode what is stored. */
  head: HttpMessage | null = null;
  /** It is a request's body, which the program has set a limit to. */
  isKept = false;
  /** It is nowhere else yet: its place is kept free. */
  unwritten = false;
  /** Surrogate keys of the head, under which the object is filed when it becomes visible. */
  tags: string[] | null = null;
  /** Evictions left for this object's body. */
  nukesLeft: number;
  /** Last extent of the body, 0 when there is none. */
  tail = 0;
  /** Body offset at which the first extent still held starts; what lies before it in extents is freed. */
  base = 0;
  consumed = 0;
  /** Called when a reader has used up bytes or left: the fetch may go on, or give up. */
  onConsume: (() => void) | null = null;
  /** What the object's row says of its fetch: with another, the row is another object's by now. */
  stamp: number;
  private reader: ProgressReader | null = null;
  /** Those beside it; null as long as there was none. */
  private others: Set<ProgressReader> | null = null;
  /** The rest of the others is called in a later turn, and there is something new for them all since. */
  private waiting = false;
  private isNew = false;

  constructor(nukesLeft: number, stamp = 0) {
    this.nukesLeft = nukesLeft;
    this.stamp = stamp;
  }

  attach(reader: ProgressReader): void {
    if (this.reader === null) this.reader = reader;
    else {
      this.others ??= new Set();
      this.others.add(reader);
    }
  }

  detach(reader: ProgressReader): void {
    if (this.reader === reader) this.reader = null;
    else this.others?.delete(reader);
  }

  get readerCount(): number {
    return (this.reader === null ? 0 : 1) + (this.others?.size ?? 0);
  }

  /** Calls the readers, of many some in each turn. They come and go meanwhile: who has gone is not called any more, and who
   * comes has read what there is. */
  notify(turns: Turns): void {
    this.reader?.progress();
    if (this.others === null || this.others.size === 0) return;
    if (this.waiting) this.isNew = true;
    else this.tell(turns);
  }

  private tell(turns: Turns): void {
    const { others } = this;
    if (others === null) return;
    const readers = [...others];
    let at = 0;
    const goOn = (): void => {
      this.waiting = false;
      while (at < readers.length) {
        const reader = readers[at++] as ProgressReader;
        if (!others.has(reader)) continue;
        reader.progress();
        if (at < readers.length && !turns.mayGoOn()) {
          this.waiting = true;
          turns.later(goOn);
          return;
        }
      }
      if (!this.isNew) return;
      // The first ones have not read what has come since.
      this.isNew = false;
      turns.later(() => this.tell(turns));
    };
    goOn();
  }
}
