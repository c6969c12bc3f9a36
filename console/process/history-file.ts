// Lines typed in earlier sessions: commands and queries, in $XDG_STATE_HOME/proxyd/console-history, a JSON line each.
// Lines are appended, so that two consoles at once lose none of each other's. A file that cannot be read or written
// costs the history and nothing else.

import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { writeOwn } from '../../protocol/files/own-file.ts';
import { EMPTY_RECALL, type Recall, remember } from '../model/ui/line-editor.ts';
import type { UiState } from '../model/ui/ui-state.ts';

type Histories = Pick<UiState, 'commands' | 'queries'>;
const NAMES = ['commands', 'queries'] as const satisfies readonly (keyof Histories)[];

/** Longer lines, such as programs, are not kept (chosen). */
const LONGEST = 2000;
/** The file is written anew when it is longer than this, in bytes (chosen). */
const MOST_BYTES = 256 << 10;

export function historyPath(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'proxyd', 'console-history');
}

export class HistoryFile {
  private readonly path: string;
  private seen: Histories = { commands: EMPTY_RECALL, queries: EMPTY_RECALL };

  constructor(path: string) {
    this.path = path;
  }

  /** The lines of earlier sessions. */
  load(): Histories {
    const text = this.read();
    const out: Record<keyof Histories, Recall> = { commands: EMPTY_RECALL, queries: EMPTY_RECALL };
    for (const line of text.split('\n')) {
      const [name, typed] = parsed(line);
      if (name !== undefined && typed !== undefined) out[name] = remember(out[name], typed);
    }
    if (text.length > MOST_BYTES) this.rewrite(out);
    this.seen = out;
    return out;
  }

  /** Writes what is new in the state. */
  keep(state: Histories): void {
    for (const name of NAMES) {
      const { entries } = state[name];
      const typed = entries.at(-1);
      if (entries === this.seen[name].entries || typed === undefined || typed.length > LONGEST) continue;
      this.append(lineOf(name, typed));
    }
    this.seen = state;
  }

  private read(): string {
    try {
      const fd = openSync(this.path, 'r');
      try {
        // No special file, and no file that something else has blown up.
        const { size } = fstatSync(fd);
        return fstatSync(fd).isFile() && size <= 4 * MOST_BYTES ? readFileSync(fd, 'utf8') : '';
      } finally {
        closeSync(fd);
      }
    } catch {
      return '';
    }
  }

  private append(line: string): void {
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      appendFileSync(this.path, line, { mode: 0o600 });
    } catch {
      // A full disk, a read-only home: this session has its history all the same.
    }
  }

  private rewrite(histories: Histories): void {
    const lines = NAMES.flatMap((name) => histories[name].entries.map((typed) => lineOf(name, typed)));
    try {
      const next = `${this.path}.${process.pid}`;
      writeOwn(next, lines.join(''), 0o600);
      renameSync(next, this.path);
    } catch {
      // As above.
    }
  }
}

function lineOf(name: keyof Histories, typed: string): string {
  return `${JSON.stringify([name, typed])}\n`;
}

function parsed(line: string): [name?: keyof Histories, typed?: string] {
  try {
    const value: unknown = line === '' ? null : JSON.parse(line);
    const [first, typed] = Array.isArray(value) ? (value as unknown[]) : [];
    const name = NAMES.find((one) => one === first);
    return name !== undefined && typeof typed === 'string' && typed.length <= LONGEST ? [name, typed] : [];
  } catch {
    return [];
  }
}
