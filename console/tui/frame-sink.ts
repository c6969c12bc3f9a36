// The stdout that Ink writes to. In Ink's debug mode each write is one whole frame; the sink compares it
// with what is on the screen row by row and paints only the rows that differ, inside synchronized output.
// It never lets the terminal scroll or wrap, and after close() it swallows everything.

import { widthOf } from './cells.ts';

const SYNC_BEGIN = '\x1b[?2026h';
const SYNC_END = '\x1b[?2026l';
const SGR = /\x1b\[[0-9;:]*m/g;

export interface SinkOutput {
  write(text: string): unknown;
}

export class FrameSink {
  /** Ink asks these of its stdout. `isTTY` false keeps it from sending codes of its own. */
  readonly isTTY = false;
  readonly writable = true;
  columns: number;
  rows: number;
  /** Frames that changed the screen, and bytes they took: for tests and the curious. */
  frames = 0;
  bytes = 0;
  private readonly output: SinkOutput;
  private shown: string[] = [];
  private latest = '';
  private closed = false;

  constructor(output: SinkOutput, columns: number, rows: number) {
    this.output = output;
    this.columns = columns;
    this.rows = rows;
  }

  /** One whole frame. */
  write(frame: string): boolean {
    if (this.closed || frame === '') return true;
    this.latest = frame;
    const lines = frame.split('\n');
    let out = '';
    for (let i = 0; i < this.rows; i++) {
      const line = lines[i] ?? '';
      if (line === this.shown[i]) continue;
      this.shown[i] = line;
      // A full row leaves the cursor on its last cell: erasing from there would eat it.
      const erase = widthOf(line.replace(SGR, '')) < this.columns ? '\x1b[0m\x1b[K' : '\x1b[0m';
      out += `\x1b[${i + 1};1H${line}${erase}`;
    }
    if (out !== '') {
      const text = SYNC_BEGIN + out + SYNC_END;
      this.frames++;
      this.bytes += text.length;
      this.output.write(text);
    }
    return true;
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.forget();
  }

  /** The screen's content is unknown: the next frame paints every row. */
  forget(): void {
    this.shown = [];
    if (!this.closed) this.output.write('\x1b[0m\x1b[2J');
  }

  /** Paints the latest frame again, whole. */
  redraw(): void {
    this.forget();
    this.write(this.latest);
  }

  close(): void {
    this.closed = true;
  }

  // Ink subscribes to `resize`; the console tells it about sizes by rendering instead.
  on(): this {
    return this;
  }

  off(): this {
    return this;
  }

  removeListener(): this {
    return this;
  }
}
