// The console as a program: terminal, signals, input, the live source, and Ink loaded last. It leaves the
// terminal as it found it on every way out: quitting, signals, a lost terminal, an exception.

import type { WriteStream } from 'node:tty';
import type { ViewName } from '../model/views.ts';

export interface ConsoleOptions {
  /** Working directory of the daemon, as -n; or `address` (host:port) with `secretFile`. */
  dir?: string | undefined;
  address?: string | undefined;
  secretFile?: string | undefined;
  /** Commands that change something are refused here. */
  readonly?: boolean | undefined;
  /** Ends the console when it aborts. */
  signal?: AbortSignal | undefined;
  /** The view to begin with. */
  view?: ViewName | undefined;
  /** A recording to show instead of a daemon. */
  replay?: string | undefined;
  /** Lines for a screen reader instead of a screen. */
  reader?: boolean | undefined;
}

/** Runs until the operator quits; resolves with the exit status. Needs a terminal on stdin and stdout. */
export async function runConsole(options: ConsoleOptions): Promise<number> {
  const { stdin, stdout, stderr } = process;
  if (!stdin.isTTY || !stdout.isTTY) {
    stderr.write('The console needs a terminal; give a command, or use proxystat and proxylog.\n');
    return 2;
  }
  const [{ startConsole }] = await Promise.all([import('./start.tsx')]);
  return startConsole(options, stdin, stdout as WriteStream);
}
