// The bus of the demo's fleet: a nats-server that ends with the demo, however that ends, since a shell beside it waits for
// the end of its own input.

import { spawn } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface BusChild {
  url: string;
  stop(): Promise<void>;
}

const START_MS = 10_000;
/** What a terminal sends to all its processes must not end the shell before it has ended the server. */
const SHELL = 'trap "" HUP INT QUIT TERM; "$@" & server=$!; cat > /dev/null; kill -9 $server';

/** Full path of nats-server; null when this machine has none. */
export function findBus(): string | null {
  const path = process.env.PATH ?? '';
  // Where Debian puts it, which is not on everybody's PATH.
  for (const folder of [...path.split(delimiter), '/usr/sbin']) {
    const program = join(folder, 'nats-server');
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not here.
    }
  }
  return null;
}

/** @param folder for its store, which whoever made it removes */
export async function startBus(program: string, folder: string): Promise<BusChild> {
  const server = ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', folder, '--ports_file_dir', folder];
  const child = spawn('/bin/sh', ['-c', SHELL, 'sh', program, ...server], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  const stop = (): Promise<void> => {
    child.stdin.end();
    return ended;
  };
  const until = Date.now() + START_MS;
  for (;;) {
    const url = urlIn(folder);
    if (url !== null) return { url, stop };
    if (Date.now() > until) {
      await stop();
      throw new Error('nats-server did not start in time');
    }
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Where it listens, from the file that it writes. */
function urlIn(folder: string): string | null {
  const file = readdirSync(folder).find((name) => name.endsWith('.ports'));
  if (file === undefined) return null;
  try {
    const { nats } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { nats?: string[] };
    return nats?.[0] ?? null;
  } catch {
    // It is being written.
    return null;
  }
}
