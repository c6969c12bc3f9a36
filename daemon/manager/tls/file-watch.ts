// Watches files by their inode, size and times: unlike events of the file system, that works for symlinks whose target is
// replaced, for files that are written anew, and on every file system. A change is reported once nothing has changed
// for a whole round: tools write certificate and key one after the other.

import { stat } from 'node:fs/promises';

/** Files looked at without a pause (chosen). */
const TOGETHER = 16;

export interface FileWatchHost {
  paths(): readonly string[];
  /** Some have changed. */
  changed(): Promise<void>;
  /** Milliseconds between rounds. */
  readonly interval: number;
}

export class FileWatch {
  readonly #host: FileWatchHost;
  #seen: ReadonlyMap<string, string> = new Map();
  #isDirty = false;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(host: FileWatchHost) {
    this.#host = host;
  }

  /** Takes the present state for that which was loaded, and starts. */
  async start(): Promise<void> {
    this.#seen = await this.#look();
    this.#next();
  }

  /** Files may have changed since they were read: they are reported as changed after the next quiet round. */
  doubt(): void {
    this.#isDirty = true;
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** One look at all files; the timer calls it. */
  async round(): Promise<void> {
    const now = await this.#look();
    const before = this.#seen;
    const isChanged = [...now].some(([path, state]) => before.has(path) && before.get(path) !== state);
    this.#seen = now;
    if (isChanged) this.#isDirty = true;
    else if (this.#isDirty) {
      this.#isDirty = false;
      await this.#host.changed();
    }
  }

  #next(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      void this.round().finally(() => this.#next());
    }, this.#host.interval);
    this.#timer.unref();
  }

  async #look(): Promise<Map<string, string>> {
    const paths = [...new Set(this.#host.paths())];
    const seen = new Map<string, string>();
    for (let at = 0; at < paths.length; at += TOGETHER) {
      const some = paths.slice(at, at + TOGETHER);
      const states = await Promise.all(some.map(stateOf));
      for (const [i, path] of some.entries()) seen.set(path, states[i] as string);
    }
    return seen;
  }
}

/** A text that changes with the file; '' without one. */
async function stateOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch {
    return '';
  }
}
