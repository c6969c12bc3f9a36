// Running in the background: the program starts itself again, detached, and the first process waits for it.
//
// The first process exits 0 when the second serves, or with its error. Messages of the second until then are printed to
// the first one's standard error, through the IPC channel between them.

import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** Environment variable that marks the second process. */
const MARK = 'PROXYD_DETACHED';

type Message = { t: 'serving' } | { t: 'failed'; message: string; code: number } | { t: 'log'; text: string };

export function isDetached(): boolean {
  return process.env[MARK] === '1' && process.connected === true;
}

/** For the first process: resolves with its exit code. */
export function runDetached(script: string, argv: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const sink = openSync('/dev/null', 'r+');
    const child = spawn(process.execPath, [...process.execArgv, script, ...argv], {
      detached: true,
      stdio: [sink, sink, sink, 'ipc'],
      env: { ...process.env, [MARK]: '1' },
    });
    closeSync(sink);
    let done = false;
    const finish = (code: number, text = ''): void => {
      if (done) return;
      done = true;
      if (text !== '') process.stderr.write(text);
      resolve(code);
    };
    const giveUp = (signal: NodeJS.Signals): void => {
      child.kill(signal);
    };
    process.on('SIGINT', giveUp);
    process.on('SIGTERM', giveUp);
    child.on('message', (m: unknown) => {
      const message = m as Message;
      if (message.t === 'log') process.stderr.write(message.text);
      else if (message.t === 'failed') finish(message.code, message.message);
      else {
        child.disconnect();
        child.unref();
        finish(0);
      }
    });
    child.on('error', (cause) => finish(1, `Error: cannot start in the background: ${cause.message}\n`));
    child.on('exit', (code, signal) =>
      finish(code || 1, `Error: ended before it served (${signal ?? code})\n`),
    );
  });
}

/** For the second process. */
export const detachedSelf = {
  log(text: string): void {
    if (process.connected) process.send?.({ t: 'log', text } satisfies Message);
  },
  serving(): void {
    delete process.env[MARK];
    process.send?.({ t: 'serving' } satisfies Message);
  },
  failed(message: string, code: number): Promise<void> {
    return new Promise((resolve) => {
      if (process.connected)
        process.send?.({ t: 'failed', message, code } satisfies Message, () => resolve());
      else resolve();
    });
  },
};
