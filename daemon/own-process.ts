// Child processes that run code of this package. The code is read once, when the daemon starts, and passed to each
// process on standard input, so that a restarted worker is the same even after the package was replaced or removed.
//
// The executable may be gone, too: the kernel keeps the running one reachable under /proc.

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** The running Node, even if its file is gone. Resolved in the child, which is a copy of this process at that time. */
const SELF = '/proc/self/exe';

export interface ProcessOptions {
  /** Command line options of Node. */
  execArgv: readonly string[];
  /** The streams after standard input. */
  stdio: readonly ('ignore' | 'pipe' | 'ipc')[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
}

export class ProcessCode {
  readonly #text: string;
  readonly #type: 'module' | 'commonjs';

  /** Reads a module that imports only modules of Node. Throws file system errors. */
  constructor(file: string, type: 'module' | 'commonjs' = 'module') {
    this.#type = type;
    // Makes stack traces name the file, with correct line numbers.
    this.#text = `${readFileSync(file, 'utf8')}\n//# sourceURL=${file}\n`;
  }

  /** The code, for threads of a process that runs it. */
  get text(): string {
    return this.#text;
  }

  /** Starts a process; a failure is an 'error' event, as with `spawn`. */
  start(args: readonly string[], { execArgv, stdio, env, cwd }: ProcessOptions): ChildProcess {
    const options: SpawnOptions = { stdio: ['pipe', ...stdio], env, argv0: process.execPath };
    if (cwd !== undefined) options.cwd = cwd;
    const program = existsSync(SELF) ? SELF : process.execPath;
    const child = spawn(program, [...execArgv, `--input-type=${this.#type}`, '-', ...args], options);
    // A process that exits early leaves its code unread.
    child.stdin?.on('error', () => undefined).end(this.#text);
    return child;
  }
}
