// Processes that run code of this package. The code is read once, when the daemon starts, and passed to each process on
// its standard input: a worker comes back after the package was replaced or removed, and it is the same worker.
//
// The executable may be gone, too: the kernel keeps the running one under a name in /proc.

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** The running Node, even if its file is gone. Resolved in the child, which at that time is a copy of this process. */
const SELF = '/proc/self/exe';

export interface ProcessOptions {
  /** Options of Node. */
  execArgv: readonly string[];
  /** Of the streams after standard input. */
  stdio: readonly ('ignore' | 'pipe' | 'ipc')[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
}

export class ProcessCode {
  readonly #text: string;
  readonly #type: 'module' | 'commonjs';

  /** Reads a module that imports only Node's own modules. Throws the errors of reading a file. */
  constructor(file: string, type: 'module' | 'commonjs' = 'module') {
    this.#type = type;
    // Stack traces name the file, and place the lines as they are in it.
    this.#text = `${readFileSync(file, 'utf8')}\n//# sourceURL=${file}\n`;
  }

  /** The code itself, for threads of a process that runs it. */
  get text(): string {
    return this.#text;
  }

  /** Starts a process; a failure is its event `error`, as with `spawn`. */
  start(args: readonly string[], { execArgv, stdio, env, cwd }: ProcessOptions): ChildProcess {
    const options: SpawnOptions = { stdio: ['pipe', ...stdio], env, argv0: process.execPath };
    if (cwd !== undefined) options.cwd = cwd;
    const program = existsSync(SELF) ? SELF : process.execPath;
    const child = spawn(program, [...execArgv, `--input-type=${this.#type}`, '-', ...args], options);
    // A process that ends early leaves its code unread.
    child.stdin?.on('error', () => undefined).end(this.#text);
    return child;
  }
}
