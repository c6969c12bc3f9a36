// Choices of the operator that stay from one session to the next: $XDG_STATE_HOME/proxyd/console-settings, one JSON object.
// Of two consoles at once the last choice stays. A file that cannot be read or written costs the choices and nothing
// else.

import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeOwn } from '../../protocol/files/own-file.ts';
import { INITIAL_SETTINGS, LAYOUTS, type Settings } from '../model/ui/settings.ts';
import { historyPath } from './history-file.ts';

/** A longer file is not one of ours. */
const MOST_BYTES = 64 << 10;

export function settingsPath(env: NodeJS.ProcessEnv): string {
  return join(dirname(historyPath(env)), 'console-settings');
}

export class SettingsFile {
  private readonly path: string;
  private seen: Settings = INITIAL_SETTINGS;

  constructor(path: string) {
    this.path = path;
  }

  load(): Settings {
    this.seen = parsed(this.read());
    return this.seen;
  }

  /** Writes them if they have changed. */
  keep(settings: Settings): void {
    if (settings === this.seen) return;
    this.seen = settings;
    const next = `${this.path}.${process.pid}`;
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      writeOwn(next, `${JSON.stringify(settings)}\n`, 0o600);
      renameSync(next, this.path);
    } catch {
      // A full disk, a read-only home: the choice holds for this session.
      try {
        unlinkSync(next);
      } catch {
        // It was never made.
      }
    }
  }

  private read(): string {
    try {
      const fd = openSync(this.path, 'r');
      try {
        const stat = fstatSync(fd);
        return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(fd, 'utf8') : '';
      } finally {
        closeSync(fd);
      }
    } catch {
      return '';
    }
  }
}

function parsed(text: string): Settings {
  try {
    const value = JSON.parse(text) as Partial<Record<keyof Settings, unknown>> | null;
    return {
      bell: value?.bell === true,
      layout: LAYOUTS.find((name) => name === value?.layout) ?? INITIAL_SETTINGS.layout,
    };
  } catch {
    return INITIAL_SETTINGS;
  }
}
