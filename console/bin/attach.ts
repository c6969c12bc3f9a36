// Connects a one-shot to its daemon, trying again for a while as -t says, and the manners one-shots share:
// quiet on a closed pipe, process id file.

import { unlinkSync, writeFileSync } from 'node:fs';
import type { Client } from '../client/client.ts';

const RETRY = 500;

export interface AttachOptions {
  name: string;
  dir: string | undefined;
  /** Seconds to go on trying; 0 tries once, Infinity never gives up. */
  patience: number;
}

/** Rejects with a ConnectError when the time is over. */
export async function attach(o: AttachOptions): Promise<Client> {
  const { connect } = await import('../client/client.ts');
  const until = Date.now() + o.patience * 1000;
  for (;;) {
    try {
      return await connect({ dir: o.dir, name: o.name, timeout: 5 });
    } catch (error) {
      if (Date.now() + RETRY > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
  }
}

/** -t: seconds, or off. NaN when it is neither. */
export function parsePatience(text: string): number {
  if (text === 'off') return Number.POSITIVE_INFINITY;
  return /^\d+(\.\d*)?$/.test(text) ? Number(text) : Number.NaN;
}

/** A reader that has gone away is no error. */
export function quietOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
}

/** Writes the process id and removes the file at the end. */
export function writePidFile(path: string): void {
  writeFileSync(path, `${process.pid}\n`);
  process.on('exit', () => {
    try {
      unlinkSync(path);
    } catch {
      // Already gone.
    }
  });
}
