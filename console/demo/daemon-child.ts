// The demo's proxyd: a child that cannot outlive its parent. With -d it ends when its standard input closes, which
// the kernel does even if the demo is killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inPackage } from '../../protocol/files/package-files.ts';
import { type Client, connect } from '../client/client.ts';
import { type DemoHome, makeHome } from './demo-home.ts';

/** A busy machine may take as long (chosen). */
const START_MS = 60_000;
const STOP_MS = 4000;

export interface DaemonChild {
  /** Working directory, as in -n. */
  dir: string;
  port: number;
  /** Resolves on exit, with its last output. */
  ended: Promise<string>;
  /** Stops it and removes its directory. */
  stop(): Promise<void>;
  /** Synchronous variant for exit handlers. */
  killNow(): void;
}

export interface DaemonSettings {
  /** Its folder, removed with it. */
  home?: DemoHome;
  /** As -i. */
  name?: string;
  /** Additional environment of the daemon. */
  environment?: Readonly<Record<string, string>>;
  /** Additional arguments. */
  args?: readonly string[];
}

/** Starts proxyd with a program; rejects with its output if it fails to start. */
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
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      output.push(chunk);
      if (output.length > 50) output.shift();
    });
  }
  child.stdin.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', () => resolve(output.join('').trim()));
  });
  const killNow = (): void => {
    child.kill('SIGKILL');
    home.remove();
  };
  try {
    const client = await Promise.race([reach(dir, child), ended.then((text): never => fail(text))]);
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

async function reach(dir: string, child: ChildProcess): Promise<Client> {
  const until = Date.now() + START_MS;
  for (;;) {
    try {
      return await connect({ dir, timeout: 2, name: 'demo' });
    } catch (error) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}

/** The port chosen for -a host:0, from listen.list; the worker may still be opening it. */
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
