// The console as a program: terminal, signals, input, the live source, and Ink loaded last. It leaves the
// terminal as it found it on every way out: quitting, signals, a lost terminal, an exception.

import type { WriteStream } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import type { ConsoleTarget } from '../process/open-instances.ts';

export interface ConsoleOptions extends ConsoleTarget {
  /** Commands that change something are refused here. */
  readonly?: boolean | undefined;
  /** Ends the console when it aborts. */
  signal?: AbortSignal | undefined;
  /** Name of the view to begin with. */
  view?: string | undefined;
  /** A recording to show instead of a daemon. */
  replay?: string | undefined;
  /** Stands in the bottom row until the first key. */
  greeting?: string | undefined;
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
  // The drawing library makes its buffers in an old way: an operator can do nothing about what Node says of that.
  process.noDeprecation = true;
  // Short-lived objects get two megabytes and not V8's 32: what a busy log leaves behind is collected as fast, and it is
  // 50 MB less that the console keeps (test/bench/console-load.js).
  setFlagsFromString('--semi-space-growth-factor=1');
  const [{ startConsole }] = await Promise.all([import('./start.tsx')]);
  return startConsole(options, stdin, stdout as WriteStream);
}
