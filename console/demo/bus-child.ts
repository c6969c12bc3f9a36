// The bus of the demo's fleet: a nats-server that ends with the demo however that ends, because a wrapping shell
// waits for end of input.

import { spawn } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface BusChild {
  url: string;
  stop(): Promise<void>;
}

/** A busy machine may take as long (chosen). */
const START_MS = 60_000;
/** Terminal signals reach all processes and must not end the shell before the server. */
const SHELL = 'trap "" HUP INT QUIT TERM; "$@" & server=$!; cat > /dev/null; kill -9 $server';

/** Full path of nats-server, or null. */
export function findBus(): string | null {
  const path = process.env.PATH ?? '';
  // Debian's location, which is not in every user's PATH.
  for (const folder of [...path.split(delimiter), '/usr/sbin']) {
    const program = join(folder, 'nats-server');
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/** @param folder for its store, removed by the caller */
export async function startBus(program: string, folder: string): Promise<BusChild> {
  const server = ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', folder, '--ports_file_dir', folder];
  const child = spawn('/bin/sh', ['-c', SHELL, 'sh', program, ...server], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  let isRunning = true;
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      isRunning = false;
      resolve();
    };
    child.once('error', end);
    child.once('exit', end);
  });
  const stop = (): Promise<void> => {
    child.stdin.end();
    return ended;
  };
  const until = Date.now() + START_MS;
  for (;;) {
    const url = urlIn(folder);
    if (url !== null) return { url, stop };
    if (!isRunning || Date.now() > until) {
      const inTime = isRunning ? ' in time' : '';
      await stop();
      throw new Error(`nats-server did not start${inTime}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** The URL that it listens on, from its ports file. */
function urlIn(folder: string): string | null {
  const file = readdirSync(folder).find((name) => name.endsWith('.ports'));
  if (file === undefined) return null;
  try {
    const { nats } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { nats?: string[] };
    return nats?.[0] ?? null;
  } catch {
    // Not written completely yet.
    return null;
  }
}
