// Whose bytes leave next: streams with bytes and a window for them, by urgency, and within one urgency in turn (RFC 9218
// section 10). A stream that is not incremental keeps its turn until it has no more to send; one whose client has said
// nothing shares, as clients expect that know nothing of priorities.

import type { Http2Stream } from './stream.ts';

const URGENCIES = 8;

export class ReadyStreams {
  private readonly rows: Http2Stream[][] = Array.from({ length: URGENCIES }, () => []);
  count = 0;

  add(stream: Http2Stream): void {
    if (stream.isReady) return;
    stream.isReady = true;
    this.count++;
    (this.rows[stream.urgency] as Http2Stream[]).push(stream);
  }

  remove(stream: Http2Stream): void {
    if (!stream.isReady) return;
    stream.isReady = false;
    this.count--;
    const row = this.rows[stream.urgency] as Http2Stream[];
    row.splice(row.indexOf(stream), 1);
  }

  /** The one whose turn it is. */
  first(): Http2Stream | null {
    if (this.count === 0) return null;
    for (const row of this.rows) if (row.length > 0) return row[0] as Http2Stream;
    return null;
  }

  /** It has sent a frame, and has more. */
  served(stream: Http2Stream): void {
    const row = this.rows[stream.urgency] as Http2Stream[];
    if (!stream.isIncremental || row.length === 1) return;
    row.splice(row.indexOf(stream), 1);
    row.push(stream);
  }
}
