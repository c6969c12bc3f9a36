// Connects a one-shot to its daemon, trying again for a while as -t says; and the process id
// file of one-shots.

import { writePidFile as writeFile } from '../../protocol/files/pid-file.ts';
import { systemText } from '../../protocol/system-text.ts';
import type { Client } from '../client/client.ts';

const RETRY = 500;
/** Milliseconds between the dots that say that a tool still tries. */
const DOT = 1000;

export interface AttachOptions {
  name: string;
  dir: string | undefined;
  /** Seconds to go on trying; 0 tries once, Infinity never gives up. */
  patience: number;
  /** Called once a second while it tries. */
  waiting?: () => void;
}

/** Rejects with a ConnectError when the time is over. */
export async function attach(o: AttachOptions): Promise<Client> {
  const { connect } = await import('../client/client.ts');
  const until = Date.now() + o.patience * 1000;
  let dot = Date.now();
  for (;;) {
    try {
      return await connect({ dir: o.dir, name: o.name, timeout: 5, readonly: true });
    } catch (error) {
      const now = Date.now();
      if (now + RETRY > until) throw error;
      if (now >= dot) {
        o.waiting?.();
        dot += DOT;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
  }
}

/** -t: seconds, or off. NaN when it is neither. */
export function parsePatience(text: string): number {
  if (text.toLowerCase() === 'off') return Number.POSITIVE_INFINITY;
  return /^\s*\+?(\d*\.?\d*([eE][+-]?\d+)?|0[xX][0-9a-fA-F]+)$/.test(text) ? Number(text.trim()) : Number.NaN;
}

/** Writes the process id and removes the file at the end. What is wrong with the path, or null. */
export function writePidFile(path: string): string | null {
  let remove: () => void;
  try {
    remove = writeFile(path);
  } catch (error) {
    return `-P: cannot write ${path}: ${systemText(error)}`;
  }
  process.on('exit', () => {
    try {
      remove();
    } catch {
      // The directory takes no more changes.
    }
  });
  return null;
}
