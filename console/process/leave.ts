// Exit of a program that used a terminal. If the terminal is gone (SIGHUP, EIO: a lost SSH session), the process ends
// by SIGHUP itself: the runtime's normal exit restores terminal modes, and aborts with a core dump without a
// terminal.

/** Exit status of a shell for SIGHUP. */
export const HUNG_UP = 129;

export function leave(status: number): void {
  if (status !== HUNG_UP) process.exit(status);
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
