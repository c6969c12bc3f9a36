// A transfer: the part of an object that exists only while its bytes come in, or pass through to one reader. The readers
// that wait, the tail of the body, how much a private body's reader has used up. A plain JavaScript object, dropped
// with the fetch, so that cached objects have none.

import type { HttpMessage } from '../http1/message.ts';
import type { ProgressReader, ProgressSource } from './roles.ts';

const NOBODY: readonly ProgressReader[] = [];

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
  private readers: readonly ProgressReader[] = NOBODY;

  constructor(nukesLeft: number, stamp = 0) {
    this.nukesLeft = nukesLeft;
    this.stamp = stamp;
  }

  /** Readers come and go while others are being called: the list is copied, never changed. */
  attach(reader: ProgressReader): void {
    this.readers = this.readers.length === 0 ? [reader] : [...this.readers, reader];
  }

  detach(reader: ProgressReader): void {
    const { readers } = this;
    if (readers.length === 1 && readers[0] === reader) this.readers = NOBODY;
    else this.readers = readers.filter((other) => other !== reader);
  }

  get readerCount(): number {
    return this.readers.length;
  }

  notify(): void {
    const readers = this.readers;
    for (let i = 0; i < readers.length; i++) {
      const reader = readers[i] as ProgressReader;
      if (readers === this.readers || this.readers.includes(reader)) reader.progress();
    }
  }
}
