// What an object has only while it is being made or read in transit: its waiting readers, the tail of its
// body, how much a private body's reader has used up. A plain JavaScript object, dropped with the fetch, so
// that cached objects have none.

import type { VaryKey } from './vary.ts';

/** Told when a streaming body grows, and once when it is finished or failed. Called synchronously from
 * append, finish and fail. */
export interface ProgressReader {
  progress(): void;
}

export class Live {
  /** The variant this fetch is expected to become, from the Vary of its siblings; null when unknown. */
  predicted: VaryKey | null = null;
  /** Body bytes the response announced; -1 when unknown. */
  expected = -1;
  /** Surrogate keys of the head, under which the object is filed when it becomes visible. */
  tags: string[] | null = null;
  /** Evictions left for this object's body. */
  nukesLeft: number;
  /** Last extent of the body, 0 when there is none. */
  tail = 0;
  /** Body offset at which the first extent still held starts; what lies before it in extents is freed. */
  base = 0;
  consumed = 0;
  /** Told when a reader has used up bytes or left: the fetch may go on, or give up. */
  onConsume: (() => void) | null = null;
  private readers: ProgressReader[] = [];

  constructor(nukesLeft: number) {
    this.nukesLeft = nukesLeft;
  }

  attach(reader: ProgressReader): () => void {
    this.readers.push(reader);
    return () => {
      const at = this.readers.indexOf(reader);
      // Copied, not spliced: a reader may leave while another one is being told.
      if (at >= 0) this.readers = this.readers.filter((_, i) => i !== at);
    };
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
