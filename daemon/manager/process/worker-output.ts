// All that a worker writes and reports for the manager's log and list of events: lines of its standard output and standard
// error, notes, events. Rate and length are limited; suppressed ones are counted.

import type { EventKind } from '../../../protocol/tables/events.ts';
import type { FromWorker } from '../../link.ts';

/** Lines per window, and its length in milliseconds. A crash with its stack trace fits; a flood amounts to a few MB
 * a day. */
const LINES = 100;
const WINDOW_MS = 10_000;
/** Characters per line. */
const LONGEST = 2000;

/** Passes a limited number of messages per window of time. */
export class RateLimit<T> {
  readonly #out: (message: T) => void;
  /** Makes the message about suppressed ones. */
  readonly #suppressed: (count: number) => T;
  #used = 0;
  #excess = 0;
  #window: NodeJS.Timeout | null = null;

  constructor(out: (message: T) => void, suppressed: (count: number) => T) {
    this.#out = out;
    this.#suppressed = suppressed;
  }

  take(message: T): void {
    this.#window ??= setTimeout(() => this.end(), WINDOW_MS).unref();
    if (this.#used < LINES) {
      this.#used++;
      this.#out(message);
    } else this.#excess++;
  }

  /** Ends the window and reports the number of suppressed messages. */
  end(): void {
    if (this.#window !== null) clearTimeout(this.#window);
    this.#window = null;
    this.#used = 0;
    if (this.#excess > 0) this.#out(this.#suppressed(this.#excess));
    this.#excess = 0;
  }
}

type Note = Pick<FromWorker & { t: 'note' }, 'level' | 'text'>;
interface WorkerEvent {
  readonly kind: EventKind;
  readonly text: string;
}

/** Messages of workers. Notes include those of extensions, and of std.syslog without a syslog. */
export class WorkerReports {
  readonly #notes: RateLimit<Note>;
  readonly #events: RateLimit<WorkerEvent>;

  constructor(to: {
    log(level: Note['level'], text: string): void;
    happened(kind: EventKind, text: string): void;
  }) {
    this.#notes = new RateLimit(
      ({ level, text }) => to.log(level, text),
      (count) => ({ level: 'warning', text: `${count} more messages of the worker were suppressed` }),
    );
    this.#events = new RateLimit(
      ({ kind, text }) => to.happened(kind, text),
      (count) => ({
        kind: 'trouble',
        text: `${count} more changes of health and bans of programs were suppressed`,
      }),
    );
  }

  note(note: Note): void {
    this.#notes.take(note);
  }

  event(event: WorkerEvent): void {
    this.#events.take(event);
  }
}

/** Splits a stream of text into lines. */
export class Lines {
  readonly #out: (line: string) => void;
  #rest = '';

  constructor(out: (line: string) => void) {
    this.#out = out;
  }

  take(text: string): void {
    const lines = text.split('\n');
    lines[0] = this.#rest + lines[0];
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#whole(line);
    // Limits the memory of a line without an end.
    if (this.#rest.length > LONGEST) this.end();
  }

  end(): void {
    const rest = this.#rest;
    this.#rest = '';
    this.#whole(rest);
  }

  #whole(line: string): void {
    if (line.length > LONGEST) this.#out(`${line.slice(0, LONGEST)}… (cut; ${line.length} characters)`);
    else if (line !== '') this.#out(line);
  }
}

interface Stream {
  setEncoding(encoding: 'utf8'): void;
  on(event: 'data' | 'close', listener: (text: string) => void): void;
}

/** Logs the output of a process until its streams close. */
export function logOutput(
  pid: number,
  streams: readonly (Stream | null)[],
  log: (text: string) => void,
): void {
  const limit = new RateLimit<string>(
    (line) => log(`Child (${pid}) said ${line}`),
    (count) => `${count} more lines, suppressed`,
  );
  const open = new Set(streams.filter((stream) => stream !== null));
  for (const stream of open) {
    const lines = new Lines((line) => limit.take(line));
    stream.setEncoding('utf8');
    stream.on('data', (text) => lines.take(text));
    stream.on('close', () => {
      lines.end();
      open.delete(stream);
      // Both streams share one limit.
      if (open.size === 0) limit.end();
    });
  }
}
