// Watches files by their inode, size and times: unlike events of the file system, this works for symlinks whose target is
// replaced, for files that are rewritten, and on every file system. A change is reported once nothing has changed
// for a whole round: tools write certificate and key one after the other.

import { stat } from 'node:fs/promises';

/** Files looked at without a pause (chosen). */
const TOGETHER = 16;

export class FileWatch {
  readonly #interval: number;
  readonly #paths: () => readonly string[];
  readonly #changed: () => Promise<void>;
  #seen: ReadonlyMap<string, string> = new Map();
  #isDirty = false;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  /** @param interval milliseconds between rounds @param changed called when files have changed */
  constructor(interval: number, paths: () => readonly string[], changed: () => Promise<void>) {
    this.#interval = interval;
    this.#paths = paths;
    this.#changed = changed;
  }

  /** Takes the present state of the files as the loaded one, and starts. */
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
      await this.#changed();
    }
  }

  #next(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      void this.round().finally(() => this.#next());
    }, this.#interval);
    this.#timer.unref();
  }

  async #look(): Promise<Map<string, string>> {
    const paths = [...new Set(this.#paths())];
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
