// Owns the terminal while the console runs: raw mode, the alternate screen, bracketed paste, a hidden cursor, and
// their restoration on every exit path. restore() is synchronous and may be called from an exit handler, twice, or
// after the terminal is gone.

import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[0m\x1b[2J\x1b[H';
/** Button and wheel reports, in SGR encoding. */
const MOUSE_ON = '\x1b[?1000h\x1b[?1006h';
const MOUSE_OFF = '\x1b[?1006l\x1b[?1000l';
const LEAVE = `${MOUSE_OFF}\x1b[?2026l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l`;

/** Terminals truncate longer ones, some silently. */
const COPY_LIMIT = 74_000;

/** A terminal without cursor movement. */
export function isDumb(env: NodeJS.ProcessEnv): boolean {
  return env.TERM === 'dumb';
}

/** Does the environment ask for line output instead of a screen? */
export function wantsLineOutput(env: NodeJS.ProcessEnv): boolean {
  return env.PROXYD_READER === '1' || isDumb(env);
}

export class Terminal {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  private readonly dumb: boolean;
  private active = false;
  private screen = true;
  private wheel = false;

  /** A `dumb` terminal gets no escape sequences. */
  constructor(stdin: ReadStream, stdout: WriteStream, dumb = false) {
    this.stdin = stdin;
    this.stdout = stdout;
    this.dumb = dumb;
  }

  /** With `screen` false, keys are read one by one but the screen scrolls normally. */
  enter(screen = true): void {
    if (this.active) return;
    this.active = true;
    this.screen = screen;
    this.stdin.setRawMode(true);
    this.control(screen ? ENTER : '\x1b[?2004h');
    if (this.wheel) this.control(MOUSE_ON);
  }

  /** Copies text to the terminal's clipboard, also over SSH (OSC 52); terminals without support ignore it. */
  copy(text: string): void {
    const data = Buffer.from(text, 'utf8').subarray(0, COPY_LIMIT).toString('base64');
    this.control(`\x1b]52;c;${data}\x07`);
  }

  bell(): void {
    this.control('\x07');
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
      // The terminal is gone or its pipe is full: nothing to restore.
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
