// Owns the terminal while the console runs: raw mode, the alternate screen, bracketed paste, a hidden
// cursor, and their undoing on every way out. restore() is synchronous and may be called from an exit
// handler, twice, or after the terminal has gone away.

import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[0m\x1b[2J\x1b[H';
const LEAVE = '\x1b[?2026l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l';

export class Terminal {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  private active = false;

  constructor(stdin: ReadStream, stdout: WriteStream) {
    this.stdin = stdin;
    this.stdout = stdout;
  }

  enter(): void {
    if (this.active) return;
    this.active = true;
    this.stdin.setRawMode(true);
    this.stdout.write(ENTER);
  }

  restore(): void {
    if (!this.active) return;
    this.active = false;
    try {
      writeSync((this.stdout as { fd?: number }).fd ?? 1, LEAVE);
    } catch {
      // The terminal is gone, or its pipe full: there is nobody to restore it for.
    }
    try {
      this.stdin.setRawMode(false);
    } catch {
      // As above.
    }
  }
}
