// The console as a program. It connects first, and loads the screens and Ink while the daemon answers.

import type { WriteStream } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import type { DaemonSession } from '../model/session/daemon-session.ts';
import { configPath, readConfig } from '../process/config-file.ts';
import { type OpenInstances, openInstances } from '../process/open-instances.ts';
import type { ConsoleOptions } from './start.tsx';

/** How long to wait for the connection before the screens are loaded, and how often to look (chosen). */
const PATIENCE_MS = 60;
const LOOK_MS = 2;

/** Runs until the operator quits; resolves with the exit status. Needs a terminal on stdin and stdout. */
export async function runConsole(options: ConsoleOptions): Promise<number> {
  const { stdin, stdout, stderr } = process;
  if (!stdin.isTTY || !stdout.isTTY) {
    stderr.write('The console needs a terminal; give a command, or use proxystat and proxylog.\n');
    return 2;
  }
  // The drawing library uses deprecated buffer constructors: the warning is of no use to an operator.
  process.noDeprecation = true;
  // A young generation of two megabytes instead of V8's 32: the garbage of a busy log is collected as fast, and the
  // console needs 50 MB less (test/bench/console-load.js).
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
  // A recording starts when it is shown.
  if (open.player === null) await begin(open.instances.current);
  const [{ startConsole }] = await Promise.all([import('./start.tsx')]);
  return startConsole({ ...options, path, file, open }, stdin, stdout as WriteStream);
}

/** Connects, and returns as soon as the first requests are sent: nothing is sent while modules are loaded. */
async function begin(session: DaemonSession): Promise<void> {
  session.start();
  const late = performance.now() + PATIENCE_MS;
  while (session.connection.state === 'connecting' && performance.now() < late)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
