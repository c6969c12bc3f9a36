// proxylog -D: the same command again without a terminal, in a session of its own. The foreground stays until
// the background one has attached and written its process id, or passes on what that one says and its status.

const MARK = 'PROXYLOG_BACKGROUND';

/** Whether this process is the one in the background. */
export function inBackground(): boolean {
  return process.env[MARK] === '1';
}

/** Starts the background process; resolves with the exit status for the foreground. */
export async function toBackground(): Promise<number> {
  // Loaded here: it takes longer to load than all the rest of a tool, which seldom needs it.
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

/** In the background: everything is in place, the foreground may go. */
export function tellReady(): void {
  if (!inBackground() || process.send === undefined || !process.connected) return;
  // Nobody reads what is said from now on.
  process.stderr.on('error', () => {});
  process.send('ready', () => process.disconnect());
}
