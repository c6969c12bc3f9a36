// The last step of a program that had a terminal. Where the terminal has gone away (SIGHUP, EIO: a lost SSH session)
// the process ends by the hangup signal itself: the runtime's own way out sets the terminal's modes back, and aborts
// with a core dump when there is no terminal any more.

/** What a shell calls the end by SIGHUP. */
export const HUNG_UP = 129;

export function leave(status: number): void {
  if (status !== HUNG_UP) process.exit(status);
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
