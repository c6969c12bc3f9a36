// What a worker writes on its standard output and error, as lines for the manager's log, and no more of them than a log
// can stand: so many at once and so many characters each; what is beyond is left out and counted.

/** Lines in a window, and its length. A crash with its stack fits in; a flood comes to a few MB a day at the most. */
const LINES = 100;
const WINDOW_MS = 10_000;
/** Characters of a line. */
const LONGEST = 2000;

/** Lets so many messages by in a window of time. */
export class RateLimit<T> {
  readonly #out: (message: T) => void;
  /** How the count of what was left out is worded. */
  readonly #leftOut: (count: number) => T;
  #used = 0;
  #over = 0;
  #window: NodeJS.Timeout | null = null;

  constructor(out: (message: T) => void, leftOut: (count: number) => T) {
    this.#out = out;
    this.#leftOut = leftOut;
  }

  take(message: T): void {
    this.#window ??= setTimeout(() => this.end(), WINDOW_MS).unref();
    if (this.#used < LINES) {
      this.#used++;
      this.#out(message);
    } else this.#over++;
  }

  /** The window is over, or nothing more will come. */
  end(): void {
    if (this.#window !== null) clearTimeout(this.#window);
    this.#window = null;
    this.#used = 0;
    if (this.#over > 0) this.#out(this.#leftOut(this.#over));
    this.#over = 0;
  }
}

/** Cuts a stream of text into lines; a line may come in any number of parts. */
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
    // A line without an end must not fill the manager.
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
  on(event: 'data' | 'close', heard: (text: string) => void): void;
}

/** Logs what a process says on these streams until they close. */
export function logOutput(
  pid: number,
  streams: readonly (Stream | null)[],
  log: (text: string) => void,
): void {
  const allowance = new RateLimit<string>(
    (said) => log(`Child (${pid}) said ${said}`),
    (count) => `${count} more lines, which are left out`,
  );
  const open = new Set(streams.filter((stream) => stream !== null));
  for (const stream of open) {
    const lines = new Lines((line) => allowance.take(line));
    stream.setEncoding('utf8');
    stream.on('data', (text) => lines.take(text));
    stream.on('close', () => {
      lines.end();
      open.delete(stream);
      // What one stream has left over counts against the other's lines.
      if (open.size === 0) allowance.end();
    });
  }
}
