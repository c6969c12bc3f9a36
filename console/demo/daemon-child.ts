// The demo's proxyd: a child that cannot outlive its parent. It runs with -d, which ends when its standard
// input does: whatever happens to the demo, the kernel closes the pipe and the daemon goes.

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inPackage } from '../../protocol/files/package-files.ts';
import { type Client, connect } from '../client/client.ts';
import { type DemoHome, makeHome } from './demo-home.ts';

const START_MS = 10_000;
const STOP_MS = 4000;

export interface DaemonChild {
  /** Its working directory, as -n. */
  dir: string;
  port: number;
  /** Resolves with what it said last when it ends. */
  ended: Promise<string>;
  /** Ends it and removes its directory. */
  stop(): Promise<void>;
  /** The same at once, for an exit handler. */
  killNow(): void;
}

export interface DaemonSettings {
  /** Its folder, which goes with it. */
  home?: DemoHome;
  /** As -i. */
  name?: string;
  /** Of the daemon, besides our own. */
  environment?: Readonly<Record<string, string>>;
  /** Further arguments. */
  args?: readonly string[];
}

/** Starts proxyd with a program; rejects with its own words when it does not come up. */
export async function startDaemon(
  program: string,
  { home = makeHome(), name = 'demo', environment = {}, args: more = [] }: DaemonSettings = {},
): Promise<DaemonChild> {
  const dir = join(home.path, 'n');
  const file = join(home.path, 'demo.vcl');
  writeFileSync(file, program);
  const args = ['-d', '-n', dir, '-i', name, '-a', 'http=127.0.0.1:0', '-f', file, '-s', 'malloc,64m'];
  const child = spawn(process.execPath, [inPackage('dist/daemon/proxyd.js'), ...args, ...more], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      said.push(chunk);
      if (said.length > 50) said.shift();
    });
  }
  child.stdin.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', () => resolve(said.join('').trim()));
  });
  const killNow = (): void => {
    child.kill('SIGKILL');
    home.remove();
  };
  try {
    const client = await Promise.race([reach(dir), ended.then((text): never => fail(text))]);
    const started = await client.command('start');
    if (started.status !== 200) fail(started.body);
    const port = await listeningPort(client);
    client.close();
    return { dir, port, ended, killNow, stop: () => stop(child, home, ended) };
  } catch (error) {
    killNow();
    throw error;
  }
}

function fail(text: string): never {
  throw new Error(`proxyd did not start: ${text === '' ? 'no reason given' : text}`);
}

async function reach(dir: string): Promise<Client> {
  const until = Date.now() + START_MS;
  for (;;) {
    try {
      return await connect({ dir, timeout: 2, name: 'demo' });
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}

/** The port that -a host:0 got, from listen.list; the worker may still be opening it. */
async function listeningPort(client: Client): Promise<number> {
  const until = Date.now() + START_MS;
  for (;;) {
    const { status, body } = await client.command('listen.list');
    const port = Number(/(?:[\s:])(\d{2,5})\s*$/m.exec(body)?.[1] ?? 0);
    if (status === 200 && port > 0) return port;
    if (Date.now() > until) throw new Error(`proxyd does not listen: ${body}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function stop(child: ChildProcess, home: DemoHome, ended: Promise<string>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.stdin?.end();
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(timer);
  }
  home.remove();
}
