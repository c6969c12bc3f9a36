// The stdout that Ink writes to. In Ink's debug mode each write is one whole frame of placeholders; the sink
// puts the panes' rows in their place (pane-table.ts), lays overlays over them, compares the result with
// what is on the screen row by row, and paints only the rows that differ, inside synchronized output. It
// never lets the terminal scroll or wrap, and after close() it swallows everything.

import { widthOf } from './cells.ts';
import { type Overlay, PaneTable } from './pane-table.ts';

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
  readonly panes = new PaneTable();
  private readonly output: SinkOutput;
  private shown: string[] = [];
  private latest = '';
  private closed = false;

  constructor(output: SinkOutput, columns: number, rows: number) {
    this.output = output;
    this.columns = columns;
    this.rows = rows;
  }

  /** One whole frame from Ink. */
  write(frame: string): boolean {
    if (frame !== '') this.latest = frame;
    this.paint();
    return true;
  }

  /** Paints what is new in the panes, in the layout of the latest frame. */
  paint(): void {
    if (this.closed || this.latest === '') return;
    const lines = this.latest.split('\n');
    const overlays = this.panes.overlays();
    const used = new Map<string, number>();
    let out = '';
    for (let i = 0; i < this.rows; i++) {
      const runs = runsOf(lines[i] ?? '', used);
      const over = overlays.filter((o) => i >= o.top && i < o.top + o.content.rows.length);
      const line = over.length === 0 ? this.cells(runs, 0, this.columns) : this.covered(runs, i, over);
      if (line === this.shown[i]) continue;
      this.shown[i] = line;
      // A full row leaves the cursor on its last cell: erasing from there would eat it.
      const erase = widthOf(line.replace(SGR, '')) < this.columns ? '\x1b[0m\x1b[K' : '\x1b[0m';
      out += `\x1b[${i + 1};1H${line}${erase}`;
    }
    if (out === '') return;
    const text = SYNC_BEGIN + out + SYNC_END;
    this.frames++;
    this.bytes += text.length;
    this.output.write(text);
  }

  /** Cells [from, to) of a line of placeholders, with the panes in their place. */
  private cells(runs: readonly Run[], from: number, to: number): string {
    let out = '';
    for (const run of runs) {
      const start = Math.max(from, run.at);
      const end = Math.min(to, run.at + run.text.length);
      if (start >= end) continue;
      const pane = this.panes.get(run.letter);
      // A run that is no pane's (Ink's own words about a crash) is shown as it is.
      out +=
        pane === undefined || pane.width !== run.text.length
          ? run.text.slice(start - run.at, end - run.at)
          : pane.cells(run.row, start - run.at, end - run.at);
    }
    return out;
  }

  private covered(runs: readonly Run[], y: number, overlays: readonly Overlay[]): string {
    let out = '';
    let x = 0;
    for (const { left, top, content } of overlays) {
      if (left > x) out += this.cells(runs, x, left);
      out += content.cells(y - top, Math.max(0, x - left), content.width);
      x = Math.max(x, left + content.width);
    }
    return out + this.cells(runs, x, this.columns);
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
    this.paint();
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

/** A stretch of one letter in a line of a frame: the n-th row of that letter's pane. */
interface Run {
  at: number;
  letter: string;
  text: string;
  row: number;
}

/** `used` counts the rows that each letter has had so far in this frame. */
function runsOf(line: string, used: Map<string, number>): Run[] {
  const runs: Run[] = [];
  for (let at = 0; at < line.length; ) {
    const letter = line[at] as string;
    let end = at + 1;
    while (end < line.length && line[end] === letter) end++;
    const row = used.get(letter) ?? 0;
    used.set(letter, row + 1);
    runs.push({ at, letter, text: line.slice(at, end), row });
    at = end;
  }
  return runs;
}
