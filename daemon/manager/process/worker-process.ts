// One worker process: its messages, its unanswered calls, its liveness checks and the deadline of its start. There is a new
// object for each start, so that no state of a dead worker reaches the next one.
//
// Every call is answered exactly once, by the worker or by its end. A call may take any time, because the cache of a busy
// worker is worth keeping; only a ping that is not answered within cli_timeout makes the worker count as hung.

import type { ChildProcess } from 'node:child_process';
import { CLI } from '../../../protocol/errors.ts';
import type { CommandReply } from '../../../protocol/messages.ts';
import type { FromWorker, InitMessage, LoadedProgram, ToWorker, WorkerCall } from '../../link.ts';
import type { ProcessCode } from '../../own-process.ts';
import type { Params } from '../../params/parameter-set.ts';
import { turns } from '../../turns/turns.ts';
import type { ListenerSet } from './listeners.ts';

export const NO_WORKER: CommandReply = { status: CLI.COMMS, body: 'CLI communication error (no worker)' };

/** Characters of program code in one message (chosen): writing or reading them takes a fraction of a millisecond. */
const CODE_PART = 128 * 1024;
/** Milliseconds that a worker has for its start even if cli_timeout is less. */
const MIN_START_MS = 10_000;

/** Milliseconds for which a process that has ended waits for the end of its channel, which another process might hold open. */
const LAST_MESSAGES_MS = 1000;

/** The longest timer of the runtime; longer ones would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Seconds (chosen): with cli_timeout 0 a worker must still be able to start, so that the operator can reset it. */
const MIN_TIMEOUT = 0.25;

/** Seconds that a worker may be silent, and that a client waits for a reply (cli_timeout). */
export function cliTimeout(params: Params): number {
  return Math.min(Math.floor(MAX_TIMER_MS / 1000), Math.max(MIN_TIMEOUT, params.num('cli_timeout')));
}

/** Callbacks of a worker process. */
export interface WorkerProcessEvents {
  /** A message other than a reply to a call, or the report of a panic. */
  onMessage(worker: WorkerProcess, message: FromWorker): void;
  /** The deadline of the start has passed. */
  onLateStart(worker: WorkerProcess): void;
  /** A ping was not answered in time. */
  onHang(worker: WorkerProcess): void;
}

export class WorkerProcess {
  readonly child: ChildProcess;
  /** Threads that serve in it. */
  threads = 1;
  /** When it began to serve, by performance.now(); null before. */
  servedAt: number | null = null;
  /** When it was sent its programs, in milliseconds since 1970: its cache holds nothing older. Null before. */
  cacheSince: number | null = null;
  /** The report of its panic; '' without one. */
  panic = '';
  private readonly params: Params;
  private readonly events: WorkerProcessEvents;
  private readonly calls = new WorkerCalls();
  private nextCode = 1;
  private pings: NodeJS.Timeout | null = null;
  private deadline: NodeJS.Timeout | null = null;
  private ended = false;

  constructor(child: ChildProcess, params: Params, events: WorkerProcessEvents) {
    this.child = child;
    this.params = params;
    this.events = events;
    child.on('message', (message) => this.receive(message as FromWorker));
  }

  /** Process id; 0 if the system could not create the process. */
  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Calls back when the process has exited and its last messages were received. The two can come in any order, and the
   * report of a panic is the last message of a worker. */
  onExit(exited: (code: number | null, signal: NodeJS.Signals | null) => void): void {
    const { child } = this;
    child.once('exit', (code, signal) => {
      if (!child.connected) {
        exited(code, signal);
        return;
      }
      const received = () => {
        clearTimeout(timer);
        child.off('disconnect', received);
        exited(code, signal);
      };
      const timer = setTimeout(received, LAST_MESSAGES_MS);
      child.once('disconnect', received);
    });
  }

  /** Status 400 if the worker dies before it answers. */
  call(call: WorkerCall): Promise<CommandReply> {
    if (!this.child.connected) return Promise.resolve(NO_WORKER);
    if (call.op !== 'vcl.load' || !isLong(call.load)) return this.callNow(call);
    return this.sendCode(call.load).then((load) =>
      this.ended ? NO_WORKER : this.callNow({ op: call.op, load }),
    );
  }

  /** Sends the code of a large program, and after its pieces the lines of it, in parts ahead of the message with the program,
   * since neither process should handle all of it in one turn. Returns the program for that message. */
  async sendCode(load: LoadedProgram): Promise<LoadedProgram> {
    if (!isLong(load)) return load;
    const ahead = this.nextCode++;
    const { pieces, positions } = load.program;
    for (const [piece, text] of [...pieces.map((each) => each.text), positions].entries()) {
      for (let at = 0; at < text.length; at += CODE_PART) {
        this.post({ t: 'code', ahead, piece, text: text.slice(at, at + CODE_PART) });
        await turns.next();
      }
    }
    const empty = pieces.map(({ line }) => ({ text: '', line }));
    return { ...load, program: { ...load.program, pieces: empty, positions: '' }, ahead };
  }

  /** Sends it its configuration and its listening sockets, in answer to its hello. @param code of threads beside the first */
  configure(
    init: InitMessage,
    listeners: ListenerSet,
    code: ProcessCode,
    warn: (text: string) => void,
  ): void {
    let { threads } = init;
    if (threads > 1 && !listeners.canBeShared) {
      warn(
        `One thread serves instead of worker_threads=${threads}: this version of Node has no listening sockets that threads can share`,
      );
      threads = 1;
    }
    this.threads = threads;
    this.cacheSince = Date.now();
    this.post({ ...init, threads, listeners: listeners.specs(), code: threads > 1 ? code.text : null });
    listeners.handles().forEach((handle, index) => {
      for (let thread = 0; thread < threads; thread++) {
        this.post({ t: 'listener', index, thread }, handle ?? undefined);
      }
    });
  }

  post(message: ToWorker, handle?: unknown): void {
    const { child } = this;
    if (!child.connected) return;
    // A raw listening handle is sent as the channel's native type, which the typings omit.
    child.send(message, handle as Parameters<ChildProcess['send']>[1], {}, () => {});
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  /** Starts or restarts the deadline for the next step of the start. */
  expectProgress(): void {
    this.cancelDeadline();
    const seconds = Math.max(cliTimeout(this.params), this.params.num('startup_timeout'));
    const ms = Math.min(MAX_TIMER_MS, Math.max(MIN_START_MS, seconds * 1000));
    this.deadline = setTimeout(() => this.events.onLateStart(this), ms).unref();
  }

  cancelDeadline(): void {
    if (this.deadline !== null) clearTimeout(this.deadline);
    this.deadline = null;
  }

  /** Begins to ping it. */
  watch(): void {
    const ping = this.params.num('ping_interval');
    if (ping <= 0) return;
    let pending = false;
    this.pings = setInterval(() => {
      if (pending) return;
      pending = true;
      void this.call({ op: 'ping' }).then(() => {
        pending = false;
      });
    }, ping * 1000).unref();
  }

  /** The process has exited: answers all pending calls. */
  end(reply: CommandReply): void {
    this.ended = true;
    this.cancelDeadline();
    if (this.pings !== null) clearInterval(this.pings);
    this.calls.endAll(reply);
  }

  private callNow(call: WorkerCall): Promise<CommandReply> {
    return this.calls.open(
      cliTimeout(this.params) * 1000,
      (id) => this.post({ t: 'call', id, call }),
      call.op === 'ping' ? () => this.events.onHang(this) : () => void this.call({ op: 'ping' }),
    );
  }

  private receive(message: FromWorker): void {
    if (message.t === 'part') this.calls.part(message.id, message.text);
    else if (message.t === 'reply') this.calls.replied(message.id, message);
    else if (message.t === 'panic') this.panic = message.text;
    else this.events.onMessage(this, message);
  }
}

function isLong({ program }: LoadedProgram): boolean {
  return program.pieces.reduce((sum, { text }) => sum + text.length, 0) > CODE_PART;
}

interface Pending {
  resolve(reply: CommandReply): void;
  /** The parts of the body received so far. */
  body: string;
  timer: NodeJS.Timeout;
}

/** Calls that the worker has not answered yet. */
export class WorkerCalls {
  private readonly pending = new Map<number, Pending>();
  private next = 1;

  /** @param post sends the call with this id; @param late is called every `ms` milliseconds while there is no reply */
  open(ms: number, post: (id: number) => void, late: () => void): Promise<CommandReply> {
    const id = this.next++;
    return new Promise((resolve) => {
      this.pending.set(id, { resolve, body: '', timer: setInterval(late, ms) });
      post(id);
    });
  }

  replied(id: number, { status, body }: CommandReply): void {
    const call = this.pending.get(id);
    if (call === undefined) return;
    this.pending.delete(id);
    clearInterval(call.timer);
    call.resolve({ status, body: call.body + body });
  }

  part(id: number, text: string): void {
    const call = this.pending.get(id);
    if (call !== undefined) call.body += text;
  }

  endAll(reply: CommandReply): void {
    for (const { resolve, timer } of this.pending.values()) {
      clearInterval(timer);
      resolve(reply);
    }
    this.pending.clear();
  }
}
