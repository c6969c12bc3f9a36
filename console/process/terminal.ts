// Owns the terminal while the console runs: raw mode, the alternate screen, bracketed paste, a hidden
// cursor, and their undoing on every way out. restore() is synchronous and may be called from an exit
// handler, twice, or after the terminal has gone away.

import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[0m\x1b[2J\x1b[H';
/** Reports of buttons and wheel, in the form without limits. */
const MOUSE_ON = '\x1b[?1000h\x1b[?1006h';
const MOUSE_OFF = '\x1b[?1006l\x1b[?1000l';
const LEAVE = `${MOUSE_OFF}\x1b[?2026l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l`;

/** Terminals cut longer ones off, some without a word. */
const COPY_LIMIT = 74_000;

/** A terminal without a cursor that could be moved. */
export function isDumb(env: NodeJS.ProcessEnv): boolean {
  return env.TERM === 'dumb';
}

/** Does the environment ask for lines in the place of a screen? */
export function speaksInLines(env: NodeJS.ProcessEnv): boolean {
  return env.PROXYD_READER === '1' || isDumb(env);
}

export class Terminal {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  private readonly dumb: boolean;
  private active = false;
  private screen = true;
  private wheel = false;

  /** A `dumb` one gets no escape sequences. */
  constructor(stdin: ReadStream, stdout: WriteStream, dumb = false) {
    this.stdin = stdin;
    this.stdout = stdout;
    this.dumb = dumb;
  }

  /** `screen` false reads keys one by one, but leaves the screen to scroll. */
  enter(screen = true): void {
    if (this.active) return;
    this.active = true;
    this.screen = screen;
    this.stdin.setRawMode(true);
    this.control(screen ? ENTER : '\x1b[?2004h');
    if (this.wheel) this.control(MOUSE_ON);
  }

  /** Puts text into the clipboard of the terminal, also over SSH (OSC 52); terminals that cannot ignore it. */
  copy(text: string): void {
    const data = Buffer.from(text, 'utf8').subarray(0, COPY_LIMIT).toString('base64');
    this.control(`\x1b]52;c;${data}\x07`);
  }

  mouse(on: boolean): void {
    this.wheel = on;
    this.control(on ? MOUSE_ON : MOUSE_OFF);
  }

  restore(): void {
    if (!this.active) return;
    this.active = false;
    try {
      const leave = this.dumb ? '\r\n' : this.screen ? LEAVE : '\x1b[?2004l\r\n';
      writeSync((this.stdout as { fd?: number }).fd ?? 1, leave);
    } catch {
      // The terminal is gone, or its pipe full: there is nobody to restore it for.
    }
    try {
      this.stdin.setRawMode(false);
    } catch {
      // As above.
    }
  }

  private control(sequence: string): void {
    if (!this.dumb) this.stdout.write(sequence);
  }
}
