// The console as a program. The daemon is asked first, and answers while the screens and Ink are loaded.

import type { WriteStream } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import type { DaemonSession } from '../model/session/daemon-session.ts';
import { configPath, readConfig } from '../process/config-file.ts';
import { type OpenInstances, openInstances } from '../process/open-instances.ts';
import type { ConsoleOptions } from './start.tsx';

/** How long a connection may take before the screens are loaded without it, and how often it is looked at (chosen). */
const PATIENCE_MS = 60;
const LOOK_MS = 2;

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
  const path = configPath(process.env);
  const file = readConfig(path);
  let open: OpenInstances;
  try {
    open = openInstances(options, file(null).config);
  } catch (error) {
    stderr.write(`proxyadm: ${(error as Error).message}\n`);
    return 1;
  }
  // A recording plays when it is shown.
  if (open.player === null) await begin(open.instances.current);
  const [{ startConsole }] = await Promise.all([import('./start.tsx')]);
  return startConsole({ ...options, path, file, open }, stdin, stdout as WriteStream);
}

/** Connects, and returns as soon as the questions are on their way: nothing is sent while modules are loaded. */
async function begin(session: DaemonSession): Promise<void> {
  session.start();
  const late = performance.now() + PATIENCE_MS;
  while (session.connection.state === 'connecting' && performance.now() < late)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
