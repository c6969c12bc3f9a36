// Whose bytes leave next: streams with bytes and a window for them, by urgency, and within one urgency in turn (RFC 9218
// section 10). A stream that is not incremental keeps its turn until it has no more to send; one whose client has said
// nothing shares, as clients expect that know nothing of priorities.

/** A stream as far as its turn is concerned. */
export interface Ready {
  readonly urgency: number;
  readonly isIncremental: boolean;
  /** It is in the list. */
  isReady: boolean;
}

const URGENCIES = 8;

export class ReadyStreams<S extends Ready> {
  /** By urgency; made when something has to wait. */
  private rows: S[][] | null = null;
  count = 0;

  add(stream: S): void {
    if (stream.isReady) return;
    stream.isReady = true;
    this.count++;
    this.rows ??= Array.from({ length: URGENCIES }, () => []);
    this.rows[stream.urgency]?.push(stream);
  }

  remove(stream: S): void {
    if (!stream.isReady) return;
    stream.isReady = false;
    this.count--;
    const row = this.rows?.[stream.urgency];
    row?.splice(row.indexOf(stream), 1);
  }

  /** The one whose turn it is. */
  first(): S | null {
    if (this.count > 0) for (const row of this.rows ?? []) if (row.length > 0) return row[0] ?? null;
    return null;
  }

  /** It has sent a frame, and has more. */
  served(stream: S): void {
    const row = this.rows?.[stream.urgency];
    if (row === undefined || !stream.isIncremental || row.length === 1) return;
    row.splice(row.indexOf(stream), 1);
    row.push(stream);
  }
}
