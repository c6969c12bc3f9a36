// The subject of a diagnosis: a working directory, its daemon if reachable, and its processes. Every query yields a
// text: the result, or a line with the reason for its absence.

import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { openRegular } from '../../protocol/files/own-file.ts';
import { decodeLogFrame } from '../../protocol/log-frame.ts';
import type { CounterInfo, LogSubscription } from '../../protocol/messages.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import type { Client } from '../client/client.ts';
import { groupText } from '../format/log-text.ts';
import type { CounterValue } from '../format/stat-text.ts';

/** Timeout of a command in milliseconds: a hanging daemon must not hang its diagnosis. */
const TIMEOUT_MS = 5000;

export class Subject {
  readonly dir: string;
  /** Null if the daemon is unreachable. */
  readonly client: Client | null;
  /** Why it is unreachable. */
  readonly unreachable: string;
  /** Process id of the daemon from its pid file; 0 if unknown. */
  readonly manager: number;
  worker = 0;

  constructor(dir: string, client: Client | null, unreachable: string) {
    this.dir = dir;
    this.client = client;
    this.unreachable = unreachable;
    this.manager = Number(readPlain(`${dir}/${WORKDIR_FILES.pid}`)?.trim() ?? 0) || 0;
  }

  /** The reply to an admin command, or why there is none. */
  async command(line: string): Promise<string> {
    const { client } = this;
    if (client === null) return `not run: ${this.unreachable}\n`;
    const reply = await withTimeout(client.command(line).catch((cause: Error) => cause));
    if (reply === null) return `no answer within ${TIMEOUT_MS / 1000} s\n`;
    if (reply instanceof Error) return `failed: ${reply.message}\n`;
    const body = reply.body.endsWith('\n') ? reply.body : `${reply.body}\n`;
    return reply.status === 200 ? body : `status ${reply.status}\n${body}`;
  }

  /** One sample of all counters; null if unreachable. */
  async counters(): Promise<CounterValue[] | null> {
    const { client } = this;
    if (client === null) return null;
    return withTimeout(
      new Promise<CounterValue[] | null>((resolve) => {
        let info: CounterInfo[] = [];
        let values: string[] = [];
        client.stat(
          { interval: 0 },
          {
            counters: (list) => {
              info = list;
            },
            values: (_at, list) => {
              values = list;
            },
            end: (error) =>
              resolve(error === null ? info.map((c, i) => ({ ...c, value: values[i] ?? '0' })) : null),
          },
        );
      }),
    );
  }

  /** The last lines of the log from a subscription of this many milliseconds. */
  async log(sub: LogSubscription, ms: number, most: number): Promise<string[]> {
    const { client } = this;
    if (client === null) return [`not run: ${this.unreachable}`];
    const lines: string[] = [];
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        subscription.close();
        resolve();
      }, ms);
      const subscription = client.log(sub, {
        frame: (data) => {
          const frame = decodeLogFrame(data);
          for (const tx of frame?.transactions ?? [])
            lines.push(...groupText([tx], false).trimEnd().split('\n'));
          if (lines.length > 2 * most) lines.splice(0, lines.length - most);
        },
        end: () => {
          clearTimeout(timer);
          resolve();
        },
      });
    });
    return lines.slice(-most);
  }

  /** Reads the ids of the daemon's processes. */
  findWorker(): void {
    for (const entry of listing('/proc')) {
      if (!/^\d+$/.test(entry) || this.manager === 0) continue;
      const stat = readText(`/proc/${entry}/stat`);
      const parent = stat === null ? 0 : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      if (parent === this.manager) this.worker = Number(entry);
    }
  }
}

export function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** For directories that anybody may own: reads regular files only and follows no symlinks. */
export function readPlain(path: string): string | null {
  try {
    const fd = openRegular(path);
    try {
      return readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}

export function listing(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
}

function withTimeout<T>(promise: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), TIMEOUT_MS);
    const settle = (value: T | null): void => {
      clearTimeout(timer);
      resolve(value);
    };
    promise.then(settle, () => settle(null));
  });
}
