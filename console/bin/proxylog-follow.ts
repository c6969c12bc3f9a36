// proxylog on a running daemon: subscribes, writes groups, and when the daemon or its worker disappears, reports it,
// waits and continues. Once attached it never gives up, except with -d. The pid file of -P is written after the
// subscription. After a restart of the daemon its log is read from the start, so that nothing is missed; after a lost
// connection to the same daemon reading resumes at the end, so that nothing is duplicated.

import { statSync } from 'node:fs';
import { decodeLogFrame } from '../../protocol/log-frame.ts';
import type { LogSubscription, LogTransaction } from '../../protocol/messages.ts';
import { type Client, type ClientSubscription, ConnectError } from '../client/client.ts';
import { findDaemon } from '../client/find-daemon.ts';
import { whyUnreachable } from '../client/unreachable.ts';
import { attach, writePidFile } from '../process/attach.ts';
import type { LogArguments } from './log-arguments.ts';
import type { LogSink, LogSource } from './log-source.ts';
import { signalReady } from './proxylog-background.ts';

export function followDaemon(a: LogArguments, output: LogSink): LogSource {
  const follower = new Follower(a, output);
  return { done: follower.run(), flush: () => follower.flush() };
}

class Follower {
  private readonly a: LogArguments;
  private readonly output: LogSink;
  private subscription: ClientSubscription | null = null;
  /** Identity of the daemon: path and mtime of its socket. */
  private daemon = '';
  /** The log existed and was lost. */
  private abandoned = false;

  constructor(a: LogArguments, output: LogSink) {
    this.a = a;
    this.output = output;
  }

  flush(): void {
    this.subscription?.flush();
  }

  async run(): Promise<number> {
    const { a } = this;
    let dots = false;
    let { attachTimeout } = a;
    process.prependListener('SIGTERM', interrupted);
    for (let first = true; ; first = false) {
      let client: Client;
      try {
        const waiting = (): void => {
          dots = true;
          process.stderr.write('.');
        };
        client = await attach({
          name: 'proxylog',
          dir: a.dir,
          timeout: attachTimeout,
          ...(first ? { waiting } : {}),
        });
      } catch (error) {
        return this.unattached(error as Error);
      }
      process.removeListener('SIGTERM', interrupted);
      if (first && dots) process.stderr.write('\n');
      if (client.state === 'running') this.acquired();
      const daemon = this.identify();
      const start: Partial<LogSubscription> = first || daemon === this.daemon ? {} : { from: 'head' };
      this.daemon = daemon;
      await this.output.attached?.(client);
      const end = await this.subscribe(client, { ...a.sub, ...start }, first);
      this.subscription = null;
      if (end !== 'lost') return end;
      this.gone('vsm');
      if (a.sub.once === true) return 1;
      attachTimeout = Number.POSITIVE_INFINITY;
    }
  }

  /** `vsl`: the worker's log ended; `vsm`: the daemon ended. */
  private gone(what: 'vsl' | 'vsm'): void {
    this.abandoned = true;
    process.stderr.write(`Log abandoned (${what})\n`);
  }

  private acquired(): void {
    if (this.abandoned) process.stderr.write('Log reacquired\n');
    this.abandoned = false;
  }

  private unattached(error: Error): number {
    const isUnreachable = error instanceof ConnectError && error.kind === 'unreachable';
    const why = isUnreachable ? whyUnreachable(this.a.dir, error) : error.message;
    process.stderr.write(`VSM: ${why}\n`);
    return 1;
  }

  private identify(): string {
    try {
      const { ino, ctimeMs } = statSync(findDaemon(this.a.dir).socket);
      return `${ino} ${ctimeMs}`;
    } catch {
      return '';
    }
  }

  private subscribe(client: Client, sub: LogSubscription, first: boolean): Promise<number | 'lost'> {
    const { a, output } = this;
    return new Promise((resolve) => {
      client.onEvent = ({ event }) => {
        if (event === 'stopped' || event === 'died') this.gone('vsl');
        else if (event === 'started') this.acquired();
      };
      this.subscription = client.log(sub, {
        ready() {
          if (!first) return;
          const problem = a.pidFile === undefined ? null : writePidFile(a.pidFile);
          if (problem === null) {
            signalReady();
            return;
          }
          process.stderr.write(`${problem}\n`);
          resolve(1);
          client.close();
        },
        frame(data) {
          const frame = decodeLogFrame(data);
          if (frame === null || output.write(groupsOf(frame.transactions))) return;
          client.pause();
          output.drain(() => client.resume());
        },
        lost(records, why) {
          if (why !== 'rate') process.stderr.write(`Log overrun: ${records} records lost (${why})\n`);
        },
        end(error) {
          if (client.closed) {
            resolve('lost');
            return;
          }
          if (error !== null) process.stderr.write(`proxylog: ${error.detail ?? error.message}\n`);
          client.close();
          resolve(error === null ? 0 : 1);
        },
      });
    });
  }
}

/** SIGINT before the first connection. */
function interrupted(): void {
  process.stderr.write('VSM: Attach interrupted\n');
  process.exit(1);
}

/** Splits a frame's transactions into groups. */
function groupsOf(transactions: readonly LogTransaction[]): LogTransaction[][] {
  const groups: LogTransaction[][] = [];
  for (const tx of transactions) {
    const last = groups.at(-1);
    if (last === undefined || tx.first === true) groups.push([tx]);
    else last.push(tx);
  }
  return groups;
}
