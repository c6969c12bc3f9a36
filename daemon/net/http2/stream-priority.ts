// Priorities beside their streams (RFC 9218): of one stream what its client and its response say, and of a connection those
// of streams that have not begun.

import { DEFAULT_PRIORITY, mergePriority, type Priority, type PriorityText } from '../../http2/priority.ts';

/** Of a stream about which nothing was said: it shares the connection, as clients expect that know nothing of priorities. */
const SHARES: Priority = { urgency: 3, incremental: true };

export class StreamPriority {
  private client: Priority = SHARES;
  private response: PriorityText | null = null;
  /** Both together. */
  current: Priority = SHARES;

  /** The client's latest text takes the place of earlier ones. */
  asked(text: PriorityText): void {
    this.client = mergePriority(text, DEFAULT_PRIORITY);
    this.merge();
  }

  answered(text: PriorityText): void {
    this.response = text;
    this.merge();
  }

  private merge(): void {
    this.current = this.response === null ? this.client : mergePriority(this.response, this.client);
  }
}

/** PRIORITY_UPDATEs that came before their requests (section 7). They are bounded by whoever keeps them. */
export class EarlyPriorities {
  private readonly texts = new Map<number, PriorityText>();

  get count(): number {
    return this.texts.size;
  }

  has(id: number): boolean {
    return this.texts.has(id);
  }

  keep(id: number, text: PriorityText): void {
    this.texts.set(id, text);
  }

  /** That of a stream that begins now. Streams with lower ids never will (RFC 9113 section 5.1.1). */
  take(id: number): PriorityText | null {
    const { texts } = this;
    if (texts.size === 0) return null;
    const text = texts.get(id) ?? null;
    for (const each of texts.keys()) if (each <= id) texts.delete(each);
    return text;
  }
}
