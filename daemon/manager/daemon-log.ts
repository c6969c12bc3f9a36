// Where the manager's own messages go: in the foreground to standard error, in the background to the system's log, and
// with --log-file to a file, instead of the system's log or beside standard error.
//
// Under systemd standard error is the journal's, which takes a level in front of each line (sd-daemon(3)). Messages
// that have lines of their own, as panics do, are logged whole.

import { fstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { Untrusted } from '../../protocol/files/trust.ts';
import { systemText } from '../../protocol/system-text.ts';
import { Syslog, type SyslogSettings } from '../syslog.ts';
import { LogFile } from './log-file.ts';
import { OptionError } from './option-error.ts';
import type { Options } from './options.ts';

type Level = 'debug' | 'info' | 'warning' | 'error';

export type Log = (level: Level, text: string) => void;

/** Severities of syslog(3). */
const SEVERITY: Readonly<Record<Level, number>> = { error: 3, warning: 4, info: 6, debug: 7 };
/** The facility that Varnish uses. */
const LOG_LOCAL0 = 16 << 3;

export interface DaemonLogParts {
  /** Standard error of the process. */
  stderr: (text: string) => void;
  /** In the background: standard error of whoever started it, for as long as that waits. */
  starter: (text: string) => void;
  /** In tests another socket or program. */
  syslog?: SyslogSettings;
}

export interface DaemonLog {
  write: Log;
  /** Opens --log-file again. */
  reopen(): void;
  /** Resolves when what was written is out of this process's hands, or after a moment. */
  close(): Promise<void>;
}

/** Throws OptionError where --log-file cannot be opened. */
export function openDaemonLog(o: Pick<Options, 'mode' | 'logFile'>, parts: DaemonLogParts): DaemonLog {
  const background = o.mode === 'daemon';
  const syslog = background ? new Syslog(parts.syslog) : null;
  const toSyslog: Log = (level, text) => syslog?.send(LOG_LOCAL0 | SEVERITY[level], text);
  const journal = isJournal(process.env.JOURNAL_STREAM);
  const toStderr: Log = (level, text) => {
    const line = labelled(level, text);
    parts.stderr(`${journal ? line.replace(/^/gm, `<${SEVERITY[level]}>`) : line}\n`);
  };
  const first = background ? toSyslog : toStderr;
  let file: LogFile | null = null;
  if (o.logFile !== null) {
    const path = resolve(o.logFile);
    try {
      file = new LogFile(path, (text) => first('error', text));
    } catch (cause) {
      const remedy =
        cause instanceof Untrusted ? '' : ' (name a file in a directory that is there and may be written to)';
      throw new OptionError(`--log-file: Cannot open '${path}': ${systemText(cause)}${remedy}`, false);
    }
  }
  const write: Log = (level, given) => {
    const text = readable(given);
    file?.write(labelled(level, text));
    if (file === null || !background) first(level, text);
    // Its starter shows what matters until it serves; nobody reads on after that.
    if (background && SEVERITY[level] < SEVERITY.info) parts.starter(`${labelled(level, text)}\n`);
  };
  const missing = file === null ? (syslog?.missing ?? null) : null;
  if (missing !== null) {
    write(
      'warning',
      `nothing can be logged in the background: ${missing}. Name a file with --log-file, or stay in the foreground with -F`,
    );
  }
  return { write, reopen: () => file?.reopen(), close: () => syslog?.close() ?? Promise.resolve() };
}

function labelled(level: Level, text: string): string {
  return `${level[0]?.toUpperCase()}${level.slice(1)}: ${text}`;
}

/** What a worker said may be somebody else's words: no terminal that shows a log obeys them. */
function readable(text: string): string {
  const code = (c: string): string => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`;
  return text.replace(/\r\n/g, '\n').replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, code);
}

/** Whether standard error is the stream to the journal that the service manager has made for this service. */
export function isJournal(stream: string | undefined, fd = 2): boolean {
  if (stream === undefined) return false;
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}
