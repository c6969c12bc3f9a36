// Standard output and standard error of a worker, as lines of the manager's log. The rate and the length of lines are
// limited; suppressed lines are counted.

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
