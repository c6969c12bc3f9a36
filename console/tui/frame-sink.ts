// The stdout of Ink. In Ink's debug mode each write is one whole frame; the sink replaces placeholders by the rows of
// their panes (pane-table.ts), compares the result with the screen row by row, and paints only rows that differ, inside
// synchronized output. Ink itself clears the terminal at each frame of full height. The sink never lets the terminal
// scroll or wrap, and after close() it ignores all writes.

import { widthOf } from '../draw/cells.ts';
import { type Corner, PaneTable, PLACEHOLDERS } from '../draw/pane-table.ts';

const SYNC_BEGIN = '\x1b[?2026h';
const SYNC_END = '\x1b[?2026l';
const SGR = /\x1b\[[0-9;:]*m/g;

export interface SinkOutput {
  write(text: string): unknown;
}

/** Ink's mark at the end of a text that it cuts. */
const INK_CUT = '…';

export class FrameSink {
  /** Read by Ink. `isTTY` false keeps it from sending codes of its own. */
  readonly isTTY = false;
  readonly writable = true;
  columns: number;
  rows: number;
  /** Frames that changed the screen, and their bytes: for tests. */
  frames = 0;
  bytes = 0;
  /** The mark that replaces it: a terminal may have ASCII only. */
  cutMark = INK_CUT;
  readonly panes = new PaneTable();
  private readonly output: SinkOutput;
  private shown: string[] = [];
  /** The lines of the latest frame. */
  private latest: readonly Piece[][] = [];
  private closed = false;
  /** Another program has the terminal. */
  private held = false;

  constructor(output: SinkOutput, columns: number, rows: number) {
    this.output = output;
    this.columns = columns;
    this.rows = rows;
  }

  /** One whole frame from Ink. */
  write(frame: string): boolean {
    const marked = this.cutMark === INK_CUT ? frame : frame.replaceAll(INK_CUT, this.cutMark);
    if (frame !== '') this.latest = marked.split('\n').map(piecesOf);
    this.paint();
    return true;
  }

  /** Paints changes of the panes, in the layout of the latest frame. */
  paint(): void {
    if (this.closed || this.held || this.latest.length === 0) return;
    const corners = new Map<string, Corner>();
    for (const { placeholder } of this.latest.flat()) {
      if (placeholder === '' || corners.has(placeholder)) continue;
      const corner = this.panes.get(placeholder)?.corner() ?? null;
      // A pane of this frame: Ink attaches its box after the write, and the paint after the render has it.
      if (corner === null) return;
      corners.set(placeholder, corner);
    }
    let out = '';
    for (let i = 0; i < this.rows; i++) {
      const line = (this.latest[i] ?? []).map((piece) => this.painted(piece, i, corners)).join('');
      if (line === this.shown[i]) continue;
      this.shown[i] = line;
      // After a full row the cursor is on its last cell, which erasing would clear.
      const erase = widthOf(line.replace(SGR, '')) < this.columns ? '\x1b[0m\x1b[K' : '\x1b[0m';
      out += `\x1b[${i + 1};1H${line}${erase}`;
    }
    if (out === '') return;
    const text = SYNC_BEGIN + out + SYNC_END;
    this.frames++;
    this.bytes += text.length;
    this.output.write(text);
  }

  private painted({ text, placeholder, x, width }: Piece, y: number, corners: Map<string, Corner>): string {
    const pane = this.panes.get(placeholder);
    const corner = corners.get(placeholder);
    if (pane === undefined || corner === undefined) return text;
    return pane.content.cells(y - corner.top, x - corner.left, x - corner.left + width);
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.forget();
  }

  /** The screen's content is unknown: the next frame paints every row. */
  forget(): void {
    this.shown = [];
    if (!this.closed && !this.held) this.output.write('\x1b[0m\x1b[2J');
  }

  /** Paints the latest frame again, whole. */
  redraw(): void {
    this.forget();
    this.paint();
  }

  /** Paints nothing until release(), and then everything. */
  hold(): void {
    this.held = true;
  }

  release(): void {
    this.held = false;
    this.redraw();
  }

  close(): void {
    this.closed = true;
  }

  // Ink subscribes to `resize`; sizes reach it by rendering instead.
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

/** A part of a line: Ink's text, or `width` cells from column `x` on of a placeholder's pane. */
interface Piece {
  text: string;
  /** '' is Ink's text. */
  placeholder: string;
  x: number;
  width: number;
}

function piecesOf(line: string): Piece[] {
  const pieces: Piece[] = [];
  let x = 0;
  let at = 0;
  const add = (text: string, placeholder: string): void => {
    if (text === '') return;
    const width = widthOf(text.replace(SGR, ''));
    pieces.push({ text: placeholder === '' ? text : '', placeholder, x, width });
    x += width;
    at += text.length;
  };
  for (const { 0: run, 1: placeholder = '', index } of line.matchAll(PLACEHOLDERS)) {
    add(line.slice(at, index), '');
    add(run, placeholder);
  }
  add(line.slice(at), '');
  return pieces;
}
