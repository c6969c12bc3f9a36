// std.syslog's way to the system's log. Node has no datagram sockets of the Unix kind, so one logger(1) is kept,
// which takes a line per message with its priority in front. Nothing here waits: a message that would have to is
// dropped, and where there is no /dev/log or no logger, send() says so and the caller finds another way.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Where the system takes messages. */
const SOCKET = '/dev/log';
/** Bytes that may wait for the logger. */
const MAX_QUEUED = 64 * 1024;
/** Milliseconds before a logger that has ended is replaced. */
const PAUSE = 10_000;
/** LOG_USER | LOG_NOTICE, for what is no priority. */
const DEFAULT_PRIORITY = 13;

export class Syslog {
  readonly #tag: string;
  readonly #socket: string;
  #logger: ChildProcess | null = null;
  #notBefore = 0;

  constructor(tag = 'proxyd', socket = SOCKET) {
    this.#tag = tag;
    this.#socket = socket;
  }

  /** False when the system has no log that can be reached. */
  send(priority: number, text: string): boolean {
    const pipe = this.#pipe();
    if (pipe === null) return false;
    if (pipe.writableLength > MAX_QUEUED) return true;
    const p = Number.isInteger(priority) && priority >= 0 && priority < 192 ? priority : DEFAULT_PRIORITY;
    // A line end would begin a message of its own, with a priority of the sender's choice.
    pipe.write(`<${p}>${text.replace(/[\0\r\n]+/g, ' ')}\n`, 'latin1');
    return true;
  }

  #pipe(): NonNullable<ChildProcess['stdin']> | null {
    if (this.#logger?.stdin?.writable === true) return this.#logger.stdin;
    const now = Date.now();
    if (now < this.#notBefore) return null;
    this.#notBefore = now + PAUSE;
    if (!existsSync(this.#socket)) return null;
    const args = ['-u', this.#socket, '--prio-prefix', '-t', this.#tag];
    const logger = spawn('logger', args, { stdio: ['pipe', 'ignore', 'ignore'] });
    const gone = (): void => {
      if (this.#logger === logger) this.#logger = null;
    };
    logger.on('error', gone);
    logger.on('exit', gone);
    logger.stdin.on('error', gone);
    // The worker does not stay for its sake; it ends with the pipe.
    logger.unref();
    (logger.stdin as unknown as { unref?(): void }).unref?.();
    this.#logger = logger;
    return logger.stdin;
  }
}
