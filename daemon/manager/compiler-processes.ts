// Large programs are compiled by a process of their own each: an acl of a hundred thousand networks takes a second, five
// megabytes of statements take ten, in which the manager would answer no command, follow no log and replace no worker.
// One that crashes or takes all memory is a message to the operator and nothing else.
//
// A process and not a thread: a thread that runs out of memory may take the whole process with it.

import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { serialize } from 'node:v8';
import { inPackage } from '../../protocol/files/package-files.ts';
import { ProcessCode } from '../own-process.ts';
import { AnswerReader } from './compile-answer.ts';
import type { CompileJob, JobAnswer } from './compile-job.ts';

/** Characters of a program, with what it includes, that the manager compiles itself (measured: they take it less
 * than 40 ms). */
const LARGEST_INLINE = 32 * 1024;
/** The same while the daemon starts: nobody waits for anything else, and a process would only make it later. */
const LARGEST_AT_START = 1024 * 1024;
const LONGEST_ERROR = 4096;

/** Reads the code of the process that compiles. */
function compilerCode(): ProcessCode {
  return new ProcessCode(inPackage('dist/daemon/manager/compile-child.js'));
}

export class CompilerProcesses {
  /** Characters of a program from which it is worth a process. */
  largestInline = LARGEST_AT_START;
  private code: ProcessCode | null = null;
  private readonly read: () => ProcessCode;
  private readonly running = new Set<ChildProcess>();
  private closed = false;

  constructor(read: () => ProcessCode = compilerCode) {
    this.read = read;
  }

  /** The daemon has started: the code is kept from now on, whatever becomes of its file. */
  started(): void {
    this.code ??= this.read();
    this.largestInline = LARGEST_INLINE;
  }

  /** What came of a job, or why nothing came of it, as a command may say it. */
  async run(job: CompileJob): Promise<JobAnswer | string> {
    if (this.closed) return failed('the daemon is stopping');
    this.code ??= this.read();
    const child = this.code.start([], {
      // What the manager may use, it may.
      execArgv: process.execArgv.filter((arg) => !arg.startsWith('--inspect')),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: process.env,
    });
    this.running.add(child);
    try {
      return await this.answer(child, job);
    } finally {
      this.running.delete(child);
    }
  }

  /** Ends what is under way; its commands are told so. */
  close(): void {
    this.closed = true;
    for (const child of this.running) child.kill('SIGKILL');
  }

  private answer(child: ChildProcess, job: CompileJob): Promise<JobAnswer | string> {
    return new Promise((resolve) => {
      const reader = new AnswerReader();
      let errors = '';
      child.stderr?.on('data', (chunk: Buffer) => {
        errors = (errors + chunk.toString('latin1')).slice(-LONGEST_ERROR);
      });
      const channel = child.stdio[3] as Socket | undefined;
      channel?.on('data', (chunk: Buffer) => {
        try {
          reader.take(chunk);
        } catch {
          child.kill('SIGKILL');
        }
      });
      // One that ends early leaves its job unread.
      channel?.on('error', () => undefined).end(serialize(job));
      child.on('error', (cause) => resolve(failed(`cannot start its process: ${cause.message}`)));
      child.on('close', (code, signal) => {
        if (this.closed) return resolve(failed('the daemon is stopping'));
        if (code === 0) return resolve(reader.answer ?? failed('its process gave no result'));
        resolve(failed(`${endText(code, signal)}${reasonText(errors)}`));
      });
    });
  }
}

function failed(why: string): string {
  return `Running VCC-compiler failed, ${why}\nVCL compilation failed`;
}

function endText(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `exited with ${code}` : `signal ${constants.signals[signal]} (${signal})`;
}

/** The reason in what a process wrote as it ended, if there is one. */
function reasonText(errors: string): string {
  if (errors.includes('out of memory')) return ': it ran out of memory';
  const reason = /^\w*Error: .*/m.exec(errors);
  return reason === null ? '' : `: ${reason[0]}`;
}
