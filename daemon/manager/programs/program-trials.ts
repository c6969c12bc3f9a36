// Tries programs on logged requests in a process of its own, as the worker's user: nothing that they do affects traffic, and
// a program that takes too long is killed.

import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import { inPackage } from '../../../protocol/files/package-files.ts';
import type { CompiledProgram } from '../../contract/program.ts';
import { ProcessCode } from '../../own-process.ts';
import type { Account } from '../../privileges.ts';
import type { Comparison } from '../../program-tests/compare-programs.ts';
import type { TryJob } from '../../program-tests/try-child.ts';

/** Requests of one trial, milliseconds for it, and trials at a time (chosen). */
const MOST_REQUESTS = 10_000;
const LIMIT_MS = 60_000;
const AT_ONCE = 2;

export class ProgramTrials {
  private readonly ring: string;
  private readonly account: Account | null;
  private code: ProcessCode | null = null;
  private readonly running = new Set<ChildProcess>();
  private closed = false;

  /** @param ring path of the log @param account of the worker; null: that of the manager */
  constructor(ring: string, account: Account | null) {
    this.ring = ring;
    this.account = account;
  }

  /** Startup is complete: keeps the code in memory, so that a replaced package does not matter. */
  started(): void {
    this.code ??= new ProcessCode(inPackage('dist/daemon/program-tests/try-child.js'));
  }

  /** The decisions in which the programs differ, or the reason of a failure. */
  async run(before: CompiledProgram, after: CompiledProgram): Promise<Comparison | string> {
    const foreign = [...before.modules, ...after.modules][0];
    if (foreign !== undefined)
      return `it imports ${foreign.name} from a file, and such code runs in the worker only`;
    if (this.closed) return 'the daemon is stopping';
    if (this.running.size >= AT_ONCE)
      return `${AT_ONCE} programs are being tried; ask again when they are done`;
    this.started();
    const child = (this.code as ProcessCode).start([], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe'],
      env: process.env,
    });
    this.running.add(child);
    const job: TryJob = { ring: this.ring, most: MOST_REQUESTS, account: this.account, before, after };
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    try {
      return await answer(child, job);
    } finally {
      clearTimeout(timer);
      this.running.delete(child);
    }
  }

  /** Kills running trials; their commands fail. */
  close(): void {
    this.closed = true;
    for (const child of this.running) child.kill('SIGKILL');
  }
}

function answer(child: ChildProcess, job: TryJob): Promise<Comparison | string> {
  return new Promise((resolve) => {
    const channel = child.stdio[3] as Socket;
    const parts: Buffer[] = [];
    channel.on('data', (chunk: Buffer) => parts.push(chunk));
    // A child that exits early leaves its job unread.
    channel.on('error', () => undefined);
    channel.end(serialize(job));
    child.on('error', (cause) => resolve(`its process cannot be started: ${cause.message}`));
    child.on('close', (code, signal) => {
      if (code === 0 && parts.length > 0)
        return resolve(deserialize(Buffer.concat(parts)) as Comparison | string);
      const timeUp =
        signal === 'SIGKILL' ? `it took more than ${LIMIT_MS / 1000} s, or the daemon is stopping` : null;
      resolve(timeUp ?? `its process ended with ${signal ?? code}`);
    });
  });
}
