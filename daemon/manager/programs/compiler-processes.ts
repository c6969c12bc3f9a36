// Large programs are compiled in a child process each: an acl of a hundred thousand networks takes a second, five megabytes
// of statements take ten, during which the manager could answer no command, follow no log and restart no worker. A child
// that crashes or runs out of memory results in an error message and nothing else. A thread would not do: one that runs out
// of memory may take the whole process with it.
//
// Job and answer are values of node:v8, each preceded by its length. A program's source, and its code, go in parts ahead of
// the rest, so that the manager never serializes or deserializes all of it in one turn.

import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { deserialize, serialize } from 'node:v8';
import { inPackage } from '../../../protocol/files/package-files.ts';
import type { CompiledProgram } from '../../contract/program.ts';
import { ProcessCode } from '../../own-process.ts';
import { turns } from '../../turns/turns.ts';
import type { CompileJob, JobAnswer } from './compile-job.ts';

/** Characters of a program with its includes that the manager compiles itself (measured: less than 40 ms). */
const LARGEST_INLINE = 32 * 1024;
/** The same during startup, when nothing else waits and a child process would only add delay. */
const LARGEST_AT_START = 1024 * 1024;
const LONGEST_ERROR = 4096;

/** Reads the code of the child process. */
function compilerCode(): ProcessCode {
  return new ProcessCode(inPackage('dist/daemon/manager/programs/compile-child.js'));
}

export class CompilerProcesses {
  /** Characters of a program above which a child process is used. */
  largestInline = LARGEST_AT_START;
  private code: ProcessCode | null = null;
  private readonly read: () => ProcessCode;
  private readonly running = new Set<ChildProcess>();
  private closed = false;

  constructor(read: () => ProcessCode = compilerCode) {
    this.read = read;
  }

  /** Startup is complete: keeps the code in memory, so that a replaced package does not matter. */
  started(): void {
    this.code ??= this.read();
    this.largestInline = LARGEST_INLINE;
  }

  /** The result of a job, or an error message for the command's reply. */
  async run(job: CompileJob): Promise<JobAnswer | string> {
    if (this.closed) return failed('the daemon is stopping');
    this.code ??= this.read();
    const child = this.code.start([], {
      // The child gets the manager's memory limits.
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

  /** Kills running jobs; their commands fail. */
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
      // A child that exits early leaves its job unread.
      channel?.on('error', () => undefined);
      if (channel !== undefined) void sendJob(job, channel);
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

/** The reason of an abnormal exit, from the child's standard error; '' if there is none. */
function reasonText(errors: string): string {
  if (errors.includes('out of memory')) return ': it ran out of memory';
  const reason = /^\w*Error: .*/m.exec(errors);
  return reason === null ? '' : `: ${reason[0]}`;
}

/** Characters of source or code per value (chosen): takes a fraction of a millisecond to read. */
const PART = 256 * 1024;
/** Bytes of the length prefix. */
const HEAD = 4;

/** The next part of a piece of the code. */
type CodePart = [piece: number, text: string];

function framed(value: string | CompileJob | CodePart | JobAnswer): Buffer {
  const bytes = serialize(value);
  const head = Buffer.alloc(HEAD);
  head.writeUInt32LE(bytes.length);
  return Buffer.concat([head, bytes]);
}

/** A job as bytes, in pieces of which each takes a fraction of a millisecond. */
export function* jobBytes(job: CompileJob): Generator<Buffer> {
  const { text } = job.source;
  for (let at = 0; at < text.length; at += PART) yield framed(text.slice(at, at + PART));
  yield framed({ ...job, source: { ...job.source, text: '' } });
}

async function sendJob(job: CompileJob, channel: Socket): Promise<void> {
  for (const bytes of jobBytes(job)) {
    channel.write(bytes);
    await turns.next();
  }
  channel.end();
}

/** @param bytes all of jobBytes(); throws if they are malformed */
export function readJob(bytes: Buffer): CompileJob {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const end = at + HEAD + bytes.readUInt32LE(at);
    const value = deserialize(bytes.subarray(at + HEAD, end)) as string | CompileJob;
    if (typeof value !== 'string') return { ...value, source: { ...value.source, text } };
    text += value;
    at = end;
  }
  throw new Error('the job ends early');
}

export function writeAnswer(answer: JobAnswer, write: (bytes: Buffer) => void): void {
  const send = (value: CodePart | JobAnswer): void => write(framed(value));
  const program = programOf(answer);
  if (program !== null) {
    for (const [i, piece] of program.pieces.entries()) {
      const { text } = piece;
      for (let at = 0; at < text.length; at += PART) send([i, text.slice(at, at + PART)]);
      piece.text = '';
    }
  }
  send(answer);
}

export class AnswerReader {
  /** Null until it is complete. */
  answer: JobAnswer | null = null;
  private readonly texts: string[] = [];
  private chunks: Buffer[] = [];
  private size = 0;
  /** Length of the present value; null between values. */
  private wanted: number | null = null;

  /** Throws if a value is malformed. */
  take(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    for (;;) {
      const enough = this.wanted ?? HEAD;
      if (this.size < enough) return;
      const bytes = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
      const value = bytes.subarray(0, enough);
      this.chunks = [bytes.subarray(enough)];
      this.size -= enough;
      if (this.wanted === null) this.wanted = value.readUInt32LE();
      else {
        this.wanted = null;
        this.read(deserialize(value) as CodePart | JobAnswer);
      }
    }
  }

  private read(value: CodePart | JobAnswer): void {
    if (Array.isArray(value)) {
      const [i, text] = value as CodePart;
      this.texts[i] = (this.texts[i] ?? '') + text;
      return;
    }
    for (const [i, piece] of programOf(value)?.pieces.entries() ?? []) piece.text = this.texts[i] ?? '';
    this.answer = value as JobAnswer;
  }
}

function programOf(answer: JobAnswer): CompiledProgram | null {
  return 'findings' in answer ? answer.findings.program : null;
}
