// The process at the other end of a Unix socket: the kernel reveals it to the holder of the descriptor (SO_PEERCRED), and the
// runtime has no way to ask. A small Perl process, which nearly every system has, inherits the descriptor and asks.
// On other systems the credentials are unknown.
//
// Only connections of programs that import the extension unix pay for it; each waits for its own answer and nothing
// else does. Caution: the child must not get the descriptor as one of its standard ones, since the runtime would then
// make the socket blocking, for the worker too.

import { spawn } from 'node:child_process';
import type { PeerCredentials } from '../contract/context.ts';
import type { Core } from '../transaction/core.ts';
import type { ClientWire } from './client-wire.ts';

/** SOL_SOCKET and SO_PEERCRED of Linux; the answer is pid, uid and gid. */
const QUESTION =
  'open(my $s, "+<&=3") or exit 1; my $c = getsockopt($s, 1, 17) or exit 1; print join " ", unpack "lLL", $c;';
/** Milliseconds that a connection waits. */
const PATIENCE = 1000;
/** Children at a time; further connections wait in line. */
const AT_ONCE = 4;

export class PeerReader {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** Null when it cannot be known; never rejects. */
  async read(wire: Pick<ClientWire, 'fd' | 'isGone'>): Promise<PeerCredentials | null> {
    if (process.platform !== 'linux') return null;
    if (this.running >= AT_ONCE) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.running++;
    try {
      // Only now: a connection that has closed in the line may have left its number to another one.
      const { fd, isGone } = wire;
      return fd <= 2 || isGone ? null : parse(await ask(fd));
    } catch {
      // No descriptors or processes left.
      return null;
    } finally {
      this.running--;
      this.waiting.shift()?.();
    }
  }
}

function ask(fd: number): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn('perl', ['-e', QUESTION], {
      stdio: ['ignore', 'pipe', 'ignore', fd],
      timeout: PATIENCE,
      killSignal: 'SIGKILL',
    });
    let text = '';
    child.stdout?.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
    });
    child.on('error', () => resolve(''));
    child.on('close', (code) => resolve(code === 0 ? text : ''));
  });
}

function parse(text: string): PeerCredentials | null {
  const m = /^\d+ (\d+) (\d+)$/.exec(text);
  return m === null ? null : { uid: Number(m[1]), gid: Number(m[2]) };
}

/** Whether a program that may serve the next request asks for such credentials. */
export function wantsPeers(core: Pick<Core, 'active'>): boolean {
  const { active } = core;
  if (active === null) return false;
  const programs = [active, ...[...active.labels.values()].map((label) => label.target)];
  return programs.some(({ program }) => program.compiled.imports.includes('unix'));
}
