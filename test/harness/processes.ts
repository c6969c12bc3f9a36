// Child processes of a test: one-shots whose output is collected, long-lived daemons whose output is kept,
// and what /proc says about a whole process tree. A Sandbox owns a temporary directory and everything
// started in it; dispose() leaves neither. The special case is a test run that dies half-way: the
// sandbox also kills its processes when this process exits.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Milliseconds that a test waits for an event: chosen for a machine that does twenty other things, and never waited out
 * where the event comes. */
export const PATIENCE = 90_000;

/** How a process ended and what it wrote, as text. */
export interface Finished {
  /** Exit code; null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Wall-clock milliseconds from spawn to end. */
  ms: number;
}

export interface RunOptions {
  input?: string | Buffer;
  /** Milliseconds until SIGKILL; default PATIENCE. */
  timeout?: number;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Descriptors of this process that it gets after its three streams. */
  descriptors?: readonly number[];
}

/** True when `program` is an executable on the PATH (or in Debian's sbin folders). */
export function installed(program: string): boolean {
  return findProgram(program) !== null;
}

/** Full path of `program`, or null. */
export function findProgram(program: string): string | null {
  for (const dir of [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']) {
    if (dir === '') continue;
    try {
      const path = join(dir, program);
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not here
    }
  }
  return null;
}

/** Runs a one-shot to its end. Never rejects for a non-zero exit; rejects when it cannot be started. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: 'pipe',
      env: options.env ?? process.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeout ?? PATIENCE);
    child.stdout.on('data', (d: Buffer) => out.push(d));
    child.stderr.on('data', (d: Buffer) => err.push(d));
    child.on('error', (cause) => {
      clearTimeout(timer);
      reject(cause);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({
        code,
        signal,
        stdout: Buffer.concat(out).toString('latin1'),
        stderr: Buffer.concat(err).toString('latin1'),
        ms: performance.now() - started,
      });
    });
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}

/** A long-lived child whose output is recorded. */
export class Daemon {
  readonly child: ChildProcess;
  readonly name: string;
  stdout = '';
  stderr = '';
  /** Settles when the process has ended and its pipes are closed. */
  readonly ended: Promise<Finished>;
  running = true;

  constructor(name: string, command: string, args: readonly string[], options: RunOptions = {}) {
    const started = performance.now();
    this.name = name;
    this.child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'pipe', ...(options.descriptors ?? [])],
      env: options.env ?? process.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    this.child.stdin?.on('error', () => {});
    this.child.stdout?.on('data', (d: Buffer) => {
      this.stdout += d.toString('latin1');
    });
    this.child.stderr?.on('data', (d: Buffer) => {
      this.stderr += d.toString('latin1');
    });
    this.ended = new Promise((resolve) => {
      const done = (code: number | null, signal: NodeJS.Signals | null) => {
        this.running = false;
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr, ms: performance.now() - started });
      };
      this.child.on('error', (cause) => {
        this.stderr += String(cause);
        done(127, null);
      });
      // 'exit', not 'close': a detached grandchild may hold the pipes open.
      this.child.on('exit', done);
    });
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  /** The end of the process, or an error naming it when it takes longer than `ms`. */
  async exit(ms: number): Promise<Finished> {
    const result = await Promise.race([this.ended, delay(ms).then(() => null)]);
    if (result === null) throw new Error(`${this.name} (pid ${this.pid}) has not ended after ${ms} ms`);
    return result;
  }
}

/** A temporary directory and the processes of one test file. */
export class Sandbox {
  readonly dir: string;
  readonly #daemons: Daemon[] = [];
  readonly #pids: number[] = [];
  readonly #onExit = () => this.#killAll();
  #names = 0;

  constructor(label = 'proxyd-test') {
    // Both products keep their log in the working directory and want it on a memory-backed filesystem.
    this.dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `${label}-`));
    // Started by root, the worker is another user, who reads files and uses sockets of the test by their names.
    chmodSync(this.dir, 0o711);
    process.once('exit', this.#onExit);
  }

  /** An unused path in the sandbox. */
  path(label: string): string {
    this.#names++;
    return join(this.dir, `${label}${this.#names}`);
  }

  start(name: string, command: string, args: readonly string[], options: RunOptions = {}): Daemon {
    const daemon = new Daemon(name, command, args, options);
    this.#daemons.push(daemon);
    return daemon;
  }

  /** Adopts a process left by a child (a daemon that detached), to be killed at the end. */
  adopt(pid: number): void {
    this.#pids.push(pid);
  }

  #killAll(): void {
    for (const d of this.#daemons) if (d.running) killTree(d.pid);
    for (const pid of this.#pids) if (alive(pid)) killTree(pid);
  }

  async dispose(): Promise<void> {
    this.#killAll();
    await Promise.all(this.#daemons.map((d) => Promise.race([d.ended, delay(5000)])));
    process.off('exit', this.#onExit);
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** True while a process with this id exists and is no zombie. */
export function alive(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== null && stat.state !== 'Z';
}

/** The process and all its living descendants, parents first. */
export function processTree(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = readStat(Number(entry));
    if (stat === null) continue;
    const list = children.get(stat.ppid);
    if (list === undefined) children.set(stat.ppid, [Number(entry)]);
    else list.push(Number(entry));
  }
  const tree: number[] = [];
  const queue = [pid];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    tree.push(next);
    queue.push(...(children.get(next) ?? []));
  }
  return tree;
}

/** SIGKILL for a process and its descendants. */
export function killTree(pid: number): void {
  for (const each of processTree(pid)) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // already gone
    }
  }
}

/** Name, parent and state of a process as /proc/PID/stat has them, or null. */
export function readStat(pid: number): { comm: string; state: string; ppid: number; ticks: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const close = text.lastIndexOf(')');
    const rest = text.slice(close + 2).split(' ');
    return {
      comm: text.slice(text.indexOf('(') + 1, close),
      state: rest[0] ?? '',
      ppid: Number(rest[1]),
      ticks: Number(rest[11]) + Number(rest[12]),
    };
  } catch {
    return null;
  }
}

/** CPU ticks (1/100 s) that the tree of `pid` has used so far, living processes only. */
export function treeTicks(pid: number): number {
  return processTree(pid).reduce((sum, each) => sum + (readStat(each)?.ticks ?? 0), 0);
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Asks `probe` every `pause` milliseconds until it gives a value other than null, undefined or false. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  ms = PATIENCE,
  pause = 20,
): Promise<T> {
  const end = performance.now() + ms;
  for (;;) {
    const value = await probe();
    if (value !== null && value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await delay(pause);
  }
}
