// Connects a one-shot to its daemon, retrying for the time of -t; and pid files of one-shots.

import { writePidFile as writeFile } from '../../protocol/files/pid-file.ts';
import { systemText } from '../../protocol/system-text.ts';
import type { Client } from '../client/client.ts';

const RETRY = 500;
/** Milliseconds between the dots printed while retrying. */
const DOT = 1000;

export interface AttachOptions {
  name: string;
  dir: string | undefined;
  /** Seconds to keep retrying; 0 tries once, Infinity never gives up. */
  timeout: number;
  /** Called once per second while retrying. */
  waiting?: () => void;
}

/** Rejects with a ConnectError at the time limit. */
export async function attach(o: AttachOptions): Promise<Client> {
  const { connect } = await import('../client/client.ts');
  const until = Date.now() + o.timeout * 1000;
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

/** -t: seconds, or off. NaN if neither. */
export function parseAttachTimeout(text: string): number {
  if (text.toLowerCase() === 'off') return Number.POSITIVE_INFINITY;
  return /^\s*\+?(\d*\.?\d*([eE][+-]?\d+)?|0[xX][0-9a-fA-F]+)$/.test(text) ? Number(text.trim()) : Number.NaN;
}

/** Writes the pid file and removes it at exit. Returns an error or null. */
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
      // The directory is no longer writable.
    }
  });
  return null;
}
