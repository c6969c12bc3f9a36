// proxylog -D: runs the same command in a new session without a terminal. The foreground process waits until the
// background process has attached and written its pid file, and otherwise passes on its output and status.

const MARK = 'PROXYLOG_BACKGROUND';

/** Is this the background process? */
export function inBackground(): boolean {
  return process.env[MARK] === '1';
}

/** Starts the background process; resolves with the exit status of the foreground. */
export async function toBackground(): Promise<number> {
  // Imported on demand: it takes longer to load than the rest of the tool and is rarely needed.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, process.argv.slice(1), {
      detached: true,
      env: { ...process.env, [MARK]: '1' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr?.pipe(process.stderr);
    child.once('message', () => resolve(0));
    child.once('close', (code) => resolve(code ?? 1));
    child.once('error', () => resolve(1));
  });
}

/** Called in the background process when it is ready: the foreground process may exit. */
export function signalReady(): void {
  if (!inBackground() || process.send === undefined || !process.connected) return;
  // Standard error has no reader from now on.
  process.stderr.on('error', () => {});
  process.send('ready', () => process.disconnect());
}
