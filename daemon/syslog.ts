// Sends messages to syslog, for the manager and for std.syslog. Node has no Unix datagram sockets, so that logger(1)
// runs while there are messages: it reads one message per line, prefixed with its priority.
//
// Nothing here blocks. A logger is closed after a period without messages, and only its exit with status 0 confirms its
// lines: those of any other are passed to the next one, so that a message may be duplicated, but is not lost while
// syslog restarts. Messages beyond the limit are counted, and the count is logged.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** The socket of syslog. */
const SOCKET = '/dev/log';
/** Bytes pending for syslog, including unconfirmed ones (chosen). */
const MAX_HELD = 64 * 1024;
/** Bytes after which a logger is closed to confirm its lines (chosen). */
const MAX_TURN = 16 * 1024;
/** Milliseconds without a message after which a logger is closed (chosen). */
const QUIET_MS = 1000;
/** Milliseconds before a retry, after a failed logger or without a socket (chosen). */
const PAUSE_MS = 10_000;
/** Milliseconds for the last messages of a process (chosen). */
const FAREWELL_MS = 1000;
/** Characters of a message; rsyslog accepts 8 KiB, and a character may take three bytes. Longer ones are split. */
const PIECE = 2600;
/** LOG_USER | LOG_NOTICE, for an invalid priority. */
const DEFAULT_PRIORITY = 13;
/** LOG_LOCAL0 | LOG_WARNING. */
const LOSS_PRIORITY = 132;

/** A logger process, and the lines passed to it. */
interface Turn {
  child: ChildProcess;
  lines: Buffer[];
  bytes: number;
  /** Its input was closed. */
  ending: boolean;
  /** It wrote an error: a logger that could not send still exits with 0. */
  complained: boolean;
}

export interface SyslogSettings {
  tag?: string;
  socket?: string;
  program?: string;
  /** Encoding of messages. */
  encoding?: 'latin1' | 'utf8';
  pause?: number;
}

export class Syslog {
  readonly #program: string;
  readonly #args: string[];
  readonly #socket: string;
  readonly #encoding: 'latin1' | 'utf8';
  readonly #pause: number;
  #turn: Turn | null = null;
  #waiting: Buffer[] = [];
  /** Pending and unconfirmed bytes. */
  #held = 0;
  #lost = 0;
  #notBefore = 0;
  #retry: NodeJS.Timeout | null = null;
  #quiet: NodeJS.Timeout | null = null;
  #finished: (() => void) | null = null;

  constructor(settings: SyslogSettings = {}) {
    this.#socket = settings.socket ?? SOCKET;
    this.#program = settings.program ?? 'logger';
    this.#encoding = settings.encoding ?? 'utf8';
    this.#pause = settings.pause ?? PAUSE_MS;
    const named = ['-t', settings.tag ?? 'proxyd', `--id=${process.pid}`];
    this.#args = ['-u', this.#socket, '--socket-errors=on', '--prio-prefix', '-S', '8192', ...named];
  }

  /** Whether a message could be sent now, as far as known. */
  get reachable(): boolean {
    if (this.#turn !== null) return true;
    return Date.now() >= this.#notBefore && existsSync(this.#socket);
  }

  /** Why syslog cannot be reached, and what to do; null if it can. */
  get missing(): string | null {
    if (!existsSync(this.#socket)) return `there is no ${this.#socket} (start a system log)`;
    const places = (process.env.PATH ?? '').split(delimiter).map((place) => join(place, this.#program));
    const found = isAbsolute(this.#program) ? existsSync(this.#program) : places.some((p) => existsSync(p));
    return found ? null : `there is no ${this.#program} on the PATH (install util-linux)`;
  }

  /** Sends each line of `text` as a message. While syslog is down they are queued. */
  send(priority: number, text: string): void {
    const p = Number.isInteger(priority) && priority >= 0 && priority < 192 ? priority : DEFAULT_PRIORITY;
    for (const line of text.split(/[\0\r\n]+/)) {
      if (line === '') continue;
      for (let at = 0; at < line.length; at += PIECE) this.#hold(p, line.slice(at, at + PIECE));
    }
    this.#pump();
  }

  /** Closes the logger; resolves when it has confirmed its lines, or after a time limit. */
  close(): Promise<void> {
    this.#notBefore = 0;
    this.#pump();
    if (this.#retry !== null) clearTimeout(this.#retry);
    if (this.#turn === null) return Promise.resolve();
    return new Promise((resolve) => {
      // A logger that blocks would be left running.
      const enough = setTimeout(() => this.#turn?.child.kill(), FAREWELL_MS);
      this.#finished = () => {
        clearTimeout(enough);
        resolve();
      };
      if (this.#turn !== null) this.#endTurn(this.#turn);
    });
  }

  #hold(priority: number, line: string): void {
    const bytes = Buffer.from(`<${priority}>${line}\n`, this.#encoding);
    if (this.#held + bytes.length > MAX_HELD) {
      this.#lost++;
      return;
    }
    this.#held += bytes.length;
    this.#waiting.push(bytes);
  }

  #pump(): void {
    if (this.#waiting.length === 0) return;
    const turn = this.#turn ?? this.#begin();
    if (turn === null) {
      this.#later();
      return;
    }
    if (turn.ending) return;
    for (const line of this.#waiting) {
      turn.child.stdin?.write(line);
      turn.lines.push(line);
      turn.bytes += line.length;
    }
    this.#waiting = [];
    if (turn.bytes > MAX_TURN) this.#endTurn(turn);
    else {
      if (this.#quiet !== null) this.#quiet.refresh();
      else this.#quiet = setTimeout(() => this.#endTurn(turn), QUIET_MS).unref();
    }
  }

  #begin(): Turn | null {
    if (!this.reachable) return null;
    let child: ChildProcess;
    try {
      child = spawn(this.#program, this.#args, { cwd: '/', stdio: ['pipe', 'ignore', 'pipe'] });
    } catch {
      // No descriptor or no memory: retry later.
      this.#notBefore = Date.now() + this.#pause;
      return null;
    }
    const turn: Turn = { child, lines: [], bytes: 0, ending: false, complained: false };
    this.#turn = turn;
    child.on('error', () => this.#ended(turn, false));
    child.on('close', (code) => this.#ended(turn, code === 0 && !turn.complained));
    child.stdin?.on('error', () => undefined);
    child.stderr?.on('data', () => {
      turn.complained = true;
      this.#endTurn(turn);
    });
    // Does not keep the process alive; the logger exits with the pipe.
    child.unref();
    for (const pipe of [child.stdin, child.stderr]) (pipe as unknown as { unref?(): void } | null)?.unref?.();
    return turn;
  }

  #endTurn(turn: Turn): void {
    if (this.#quiet !== null) clearTimeout(this.#quiet);
    this.#quiet = null;
    if (turn.ending) return;
    turn.ending = true;
    turn.child.stdin?.end();
  }

  #ended(turn: Turn, vouched: boolean): void {
    if (turn !== this.#turn) return;
    this.#endTurn(turn);
    this.#turn = null;
    if (vouched) {
      this.#held -= turn.bytes;
      if (this.#lost > 0) {
        this.#hold(LOSS_PRIORITY, `${this.#lost} messages found no room while the system's log took none`);
        this.#lost = 0;
      }
    } else {
      this.#waiting = [...turn.lines, ...this.#waiting];
      this.#notBefore = Date.now() + this.#pause;
    }
    this.#pump();
    if (this.#finished === null) return;
    // Reassigned by #pump().
    const next = this.#turn as Turn | null;
    if (next === null) this.#finished();
    else this.#endTurn(next);
  }

  #later(): void {
    if (this.#retry !== null) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#pump();
    }, this.#pause).unref();
  }
}
