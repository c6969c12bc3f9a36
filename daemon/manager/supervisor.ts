// The worker's life: start, stop, death, restart, and the calls that it answers.
//
// Starts the process at once and sends it what it runs when it says hello, so that programs compile while it
// boots. Never touches programs or parameters: `prepare` supplies them again for every start. A worker is killed when
// it gives no sign of life, and not because something that it was asked takes long: its cache is worth more. Caution: a
// call in flight when the worker dies is answered 400; deaths in quick succession, and processes that the system
// has no room for (no descriptor, no memory, too many processes), are followed by tries ever later, for ever.

import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { CLI } from '../../protocol/errors.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import type { WorkerStanding } from '../../protocol/tables/counters.ts';
import type { EventKind } from '../../protocol/tables/events.ts';
import type { WorkerProcess } from '../commands/manager-services.ts';
import type { FleetReceipt, Invalidation } from '../contract/invalidation.ts';
import type {
  FromWorker,
  InitMessage,
  ListenerAddress,
  LoadedProgram,
  ToWorker,
  TurnReport,
  WorkerCall,
  WorkerState,
} from '../link.ts';
import type { ProcessCode } from '../own-process.ts';
import type { MgtCounters } from '../stats/counter-fields.ts';
import { CodeAhead } from './code-ahead.ts';
import { forkWorker } from './fork-worker.ts';
import type { ListenerSet } from './listeners.ts';
import { Retries } from './retries.ts';
import { yieldCores } from './scheduling.ts';
import { WorkerCalls } from './worker-calls.ts';
import { Allowance, hear } from './worker-speech.ts';

/** What the supervisor needs of the rest of the manager. */
export interface SupervisorHost {
  /** The first message of a new worker; asked when it has said hello. Null: there is nothing to run.
   * @param ahead sends the code of a program if it is large, and gives the program that may follow it */
  prepare(
    generation: number,
    ahead: (load: LoadedProgram) => Promise<LoadedProgram>,
  ): Promise<InitMessage | null>;
  log(level: 'debug' | 'info' | 'warning' | 'error', text: string): void;
  /** Whether a dead worker is replaced (auto_restart). */
  autoRestart(): boolean;
  /** Seconds until a worker is killed that gives no sign of life, and between two questions for one. */
  timeouts(): { cli: number; ping: number };
  panicked(text: string): void;
  happened(kind: EventKind, text: string): void;
  turned(turn: TurnReport, thread: number): void;
  changed(event: 'started' | 'stopped' | 'died' | 'trouble', text: string): void;
  /** The fleet is to hear of what was invalidated in the worker. Never rejects. */
  publish(event: Invalidation): Promise<FleetReceipt>;
}

type Note = FromWorker & { t: 'note' };
type Happened = FromWorker & { t: 'happened' };

const NO_WORKER: CommandReply = { status: CLI.COMMS, body: 'CLI communication error (no worker)' };

const STOP_GRACE_MS = 5000;
/** The least time that a worker has for its start, whatever cli_timeout says. */
const MIN_START_MS = 10_000;
/** A worker that served shorter than this, or not at all, died quickly. One that served longer is replaced at once
 * however often: a delay would spare the machine little and take from the traffic what the next one could serve. */
const YOUNG_MS = 2000;
/** How long questions that do not change programs wait for a worker that is starting. */
const PATIENCE_MS = 1000;

export class Supervisor implements WorkerProcess {
  /** When the standing changed last, in milliseconds of the epoch. */
  changedAt = Date.now();
  private now: WorkerState = 'stopped';
  /** The last worker is gone, or did not come up, and nobody asked for that. */
  private failed = false;
  readonly counters: MgtCounters;
  /** Process id of the worker, 0 when there is none. */
  pid = 0;
  /** When the worker was given what it runs, in milliseconds since 1970: its cache has nothing from before. Null while there
   * is no such worker. */
  cacheSince: number | null = null;
  /** Listeners as the worker reported them. */
  bound: readonly ListenerAddress[] = [];
  private readonly code: ProcessCode;
  private readonly host: SupervisorHost;
  private readonly listeners: ListenerSet;
  private child: ChildProcess | null = null;
  /** A worker that was started ahead of everything else, for the first launch. */
  private early: ChildProcess | null;
  private readonly calls = new WorkerCalls();
  private readonly codeAhead = new CodeAhead();
  private generation = 0;
  /** Of the worker that was started last. */
  private threads = 1;
  /** When the worker began to serve, in milliseconds of performance.now(); null before. */
  private servedAt: number | null = null;
  private readonly retries = new Retries(() => this.launch());
  private wanted = false;
  /** The start that is asked for was to be tried anyway: it is tried again when it fails. */
  private retrying = false;
  private panic = '';
  /** What workers report in words, extensions and std.syslog without a system log among them. */
  private readonly notes: Allowance<Pick<Note, 'level' | 'text'>>;
  /** What they report of backends and of the bans of programs. */
  private readonly events: Allowance<Pick<Happened, 'text'> & { kind: EventKind }>;
  private settle: { resolve(): void; reject(reason: Error): void } | null = null;
  private readonly stopped: (() => void)[] = [];
  private readonly waiting: (() => void)[] = [];
  private pinger: NodeJS.Timeout | null = null;
  /** Ends a start that gets nowhere. */
  private late: NodeJS.Timeout | null = null;

  constructor(
    code: ProcessCode,
    listeners: ListenerSet,
    host: SupervisorHost,
    counters: MgtCounters,
    early: ChildProcess | null = null,
  ) {
    this.code = code;
    this.listeners = listeners;
    this.host = host;
    this.counters = counters;
    this.early = early;
    this.notes = new Allowance(
      ({ level, text }) => host.log(level, text),
      (count) => ({ level: 'warning', text: `${count} more messages of the worker's are left out` }),
    );
    this.events = new Allowance(
      ({ kind, text }) => host.happened(kind, text),
      (count) => ({
        kind: 'trouble',
        text: `${count} more changes of health and bans of programs are left out`,
      }),
    );
  }

  get state(): WorkerState {
    return this.now;
  }

  private set state(state: WorkerState) {
    if (state !== this.now) this.changedAt = Date.now();
    this.now = state;
  }

  get standing(): WorkerStanding {
    if (this.now !== 'stopped') return this.now;
    if (this.retries.pending) return 'dead, to be replaced';
    return this.failed ? 'dead' : 'stopped';
  }

  /** Whether a worker that died is about to be replaced, later than at once. */
  get awaitsRestart(): boolean {
    return this.retries.pending;
  }

  /** Starts the worker; resolves when it serves, rejects with the reason when it does not come up. */
  start(): Promise<void> {
    this.retrying = this.retries.pending;
    this.wanted = true;
    this.retries.forget();
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.launch();
    });
  }

  /** Resolves when no start is under way: what changes programs waits for it, or a new worker would miss it. */
  settled(): Promise<void> {
    if (this.state !== 'starting') return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** The same for what only asks, and for stops and starts: it waits a moment at the most. */
  async settledSoon(): Promise<void> {
    if (this.state !== 'starting') return;
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    await Promise.race([this.settled(), enough]);
    clearTimeout(timer);
  }

  /** Stops the worker; resolves when it is gone. Never fails: a worker that hangs is killed. */
  stop(): Promise<void> {
    this.wanted = false;
    if (this.failed) this.changedAt = Date.now();
    this.failed = false;
    if (this.retries.pending) this.host.log('info', 'No worker was running; none is started any more');
    this.retries.cancel();
    const child = this.child;
    if (child === null) {
      this.state = 'stopped';
      // They stayed open for the worker that was to come.
      this.listeners.close();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.stopped.push(resolve);
      if (this.state === 'stopping') return;
      this.state = 'stopping';
      this.host.log('debug', 'Stopping Child');
      void this.call({ op: 'stop' });
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
      child.once('exit', () => clearTimeout(kill));
    });
  }

  /** Asks the worker; answers 400 when it dies. It may take as long as it likes over anything but a sign of life, which it
   * is asked for in time, and again while it takes long. */
  call(call: WorkerCall): Promise<CommandReply> {
    const child = this.child;
    if (child === null || !child.connected) return Promise.resolve(NO_WORKER);
    if (call.op !== 'vcl.load' || !this.codeAhead.isNeededBy(call.load)) return this.callNow(child, call);
    return this.sendAhead(child, call.load).then((load) =>
      child === this.child ? this.callNow(child, { op: call.op, load }) : NO_WORKER,
    );
  }

  private sendAhead(child: ChildProcess, load: LoadedProgram): Promise<LoadedProgram> {
    return this.codeAhead.send(load, (message) => this.post(child, message));
  }

  private callNow(child: ChildProcess, call: WorkerCall): Promise<CommandReply> {
    return this.calls.open(
      Math.max(1, this.host.timeouts().cli * 1000),
      (id) => this.post(child, { t: 'call', id, call }),
      call.op === 'ping' ? () => this.unresponsive(child) : () => this.pingLate(child),
    );
  }

  private pingLate(child: ChildProcess): void {
    if (child === this.child) void this.call({ op: 'ping' });
  }

  /** For the very last moment of the manager: nothing may outlive it. */
  killNow(): void {
    this.wanted = false;
    this.early?.kill('SIGKILL');
    this.child?.kill('SIGKILL');
  }

  private launch(): void {
    this.retries.cancel();
    if (!this.wanted || this.child !== null) return;
    const refused = this.listeners.open();
    if (refused !== null) {
      this.failStart(refused);
      return;
    }
    this.state = 'starting';
    this.panic = '';
    let child: ChildProcess;
    try {
      child = this.early ?? forkWorker(this.code);
    } catch (cause) {
      this.noProcess(cause as Error);
      return;
    }
    this.early = null;
    this.child = child;
    child.on('error', (cause) => {
      // Without a process id there is no process, and no end of one will be reported.
      if (child.pid === undefined) this.noProcess(cause, child);
      else this.host.log('error', `Child (${child.pid}): ${cause.message}`);
    });
    if (child.pid === undefined) return;
    this.pid = child.pid ?? 0;
    this.servedAt = null;
    this.counters.child_start++;
    this.host.log('debug', `Child (${this.pid}) Started`);
    hear(this.pid, [child.stdout, child.stderr], (text) => this.host.log('info', text));
    child.on('message', (message) => void this.receive(child, message as FromWorker));
    child.on('exit', (code, signal) => this.exited(child, code, signal));
    this.watchStart(child);
  }

  /** A worker that takes longer for its next step than an answer may take will never serve. */
  private watchStart(child: ChildProcess): void {
    if (this.late !== null) clearTimeout(this.late);
    const ms = Math.max(MIN_START_MS, this.host.timeouts().cli * 1000);
    this.late = setTimeout(() => {
      if (child !== this.child || this.state !== 'starting') return;
      this.host.log('error', `Child (${this.pid}) did not start in time, killed it.`);
      child.kill('SIGKILL');
    }, ms);
    this.late.unref();
  }

  private startEnded(): void {
    if (this.late !== null) clearTimeout(this.late);
    this.late = null;
  }

  /** The system gave no process. Whoever asked for the start hears why; it is tried again whatever the reason. */
  private noProcess(cause: Error, child: ChildProcess | null = null): void {
    if (this.child !== child) return;
    this.child = null;
    this.pid = 0;
    this.failed = true;
    this.state = 'stopped';
    const settle = this.settle;
    this.settle = null;
    const why = `Cannot start a worker process: ${cause.message}`;
    this.host.log('error', this.wanted ? `${why}; ${this.retries.next()}` : why);
    settle?.reject(
      new Error(`${why}. It is tried again; free what is missing (descriptors, memory, processes)`),
    );
    this.release();
    this.ended();
  }

  /** Calls back those who wait for the end of the worker. */
  private ended(): void {
    for (const resolve of this.stopped.splice(0)) resolve();
  }

  private async receive(child: ChildProcess, m: FromWorker): Promise<void> {
    if (child !== this.child) return;
    switch (m.t) {
      case 'hello': {
        let init: InitMessage | null;
        // Programs compile for as long as they take.
        this.startEnded();
        try {
          init = await this.host.prepare(this.generation++, (load) => this.sendAhead(child, load));
        } catch (cause) {
          this.failStart((cause as Error).message);
          return;
        }
        if (child !== this.child || this.state === 'stopping') return;
        if (init === null) {
          this.failStart('No active VCL');
          return;
        }
        this.cacheSince = Date.now();
        const threads = this.threadsOf(init);
        this.threads = threads;
        const code = threads > 1 ? this.code.text : null;
        this.post(child, { ...init, threads, listeners: this.listeners.specs(), code });
        this.listeners.handles().forEach((handle, index) => {
          for (let thread = 0; thread < threads; thread++) {
            this.post(child, { t: 'listener', index, thread }, handle ?? undefined);
          }
        });
        this.watchStart(child);
        return;
      }
      case 'ready':
        this.bound = m.listeners;
        this.listeners.bound(m.listeners);
        if (this.state === 'starting') this.state = 'running';
        this.servedAt = performance.now();
        if (this.threads > 1) void yieldCores(this.pid);
        this.failed = false;
        this.startEnded();
        this.release();
        this.watch(child);
        this.host.log('info', 'Child launched OK');
        this.host.changed('started', `Child (${this.pid}) started`);
        this.settle?.resolve();
        this.settle = null;
        return;
      case 'failed':
        this.failStart(m.reason);
        return;
      case 'part':
        this.calls.part(m.id, m.text);
        return;
      case 'reply':
        this.calls.replied(m.id, m);
        return;
      case 'panic':
        this.panic = m.text;
        return;
      case 'trouble':
        this.host.log('error', m.text);
        this.host.changed('trouble', m.text);
        return;
      case 'note':
        this.notes.take(m);
        return;
      case 'happened':
        this.events.take(m);
        return;
      case 'turn':
        this.host.turned(m, m.thread);
        return;
      case 'publish': {
        const receipt = await this.host.publish(m.event);
        this.post(child, { t: 'published', id: m.id, receipt });
        return;
      }
    }
  }

  /** The threads that can serve. */
  private threadsOf({ threads }: InitMessage): number {
    if (threads === 1 || this.listeners.canBeShared) return threads;
    this.host.log(
      'warning',
      `One thread serves instead of worker_threads=${threads}: this version of Node gives no listening sockets that threads could share`,
    );
    return 1;
  }

  private exited(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (child !== this.child) return;
    const pid = this.pid;
    const asked = this.state === 'stopping';
    this.child = null;
    this.cacheSince = null;
    this.pid = 0;
    if (!asked) this.failed = true;
    this.state = 'stopped';
    this.startEnded();
    this.release();
    if (this.pinger !== null) clearInterval(this.pinger);
    this.calls.endAll(
      asked ? { status: CLI.OK, body: '' } : { status: CLI.COMMS, body: 'CLI communication error (hdr)' },
    );
    if (asked) {
      this.counters.child_exit++;
      this.host.log('info', `Child (${pid}) ended`);
    } else this.died(pid, code, signal);
    this.host.log('debug', 'Child cleanup complete');
    if (!this.wanted) this.listeners.close();
    if (asked) this.host.changed('stopped', `Child (${pid}) stopped`);
    this.ended();
    // Its start failed, and nobody asked for its end.
    if (asked && this.wanted) this.host.log('error', `Child (${pid}) did not serve; ${this.retries.next()}`);
  }

  private died(pid: number, code: number | null, signal: NodeJS.Signals | null): void {
    const how = signal === null ? `status=${code}` : `signal=${constants.signals[signal]} (${signal})`;
    if (this.servedAt !== null && performance.now() - this.servedAt >= YOUNG_MS) this.retries.forget();
    const asked = this.settle !== null;
    if (!this.host.autoRestart() || (asked && !this.retrying)) this.wanted = false;
    const next = this.wanted ? this.retries.next() : 'not restarted';
    const why = this.wanted || asked ? '' : ' (auto_restart is off: use the command start)';
    const report = `Child (${pid}) died ${how}; ${next}${why}`;
    this.host.log('error', report);
    if (signal === null && this.panic === '') this.counters.child_stop++;
    else this.counters.child_died++;
    if (this.panic !== '') {
      this.counters.child_panic++;
      this.host.panicked(this.panic);
    }
    this.host.changed('died', report);
    const { settle } = this;
    this.settle = null;
    settle?.reject(new Error(this.panic === '' ? `Child (${pid}) died ${how} at its start` : this.panic));
  }

  /** The worker cannot run: whoever asked for the start hears why, and it is not tried again. One that was to replace
   * another is: what it ran then it can run again, once the machine lets it. */
  private failStart(reason: string): void {
    const settle = this.settle;
    this.settle = null;
    this.failed = true;
    if ((settle !== null && !this.retrying) || !this.host.autoRestart()) this.wanted = false;
    const child = this.child;
    const next = child === null && this.wanted ? `; ${this.retries.next()}` : '';
    if (settle === null || next !== '') this.host.log('error', `Child cannot start: ${reason}${next}`);
    if (child === null) {
      this.state = 'stopped';
      if (!this.wanted) this.listeners.close();
      settle?.reject(new Error(reason));
      return;
    }
    this.state = 'stopping';
    child.kill('SIGKILL');
    this.stopped.push(() => settle?.reject(new Error(reason)));
  }

  private release(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private watch(child: ChildProcess): void {
    if (this.pinger !== null) clearInterval(this.pinger);
    const { ping } = this.host.timeouts();
    if (ping <= 0) return;
    let waiting = false;
    this.pinger = setInterval(() => {
      if (waiting || child !== this.child) return;
      waiting = true;
      void this.call({ op: 'ping' }).then(() => {
        waiting = false;
      });
    }, ping * 1000);
    this.pinger.unref();
  }

  private unresponsive(child: ChildProcess): void {
    if (child !== this.child || this.state === 'stopping') return;
    this.host.log('error', `Child (${this.pid}) not responding to CLI, killed it.`);
    child.kill('SIGKILL');
  }

  private post(child: ChildProcess, message: ToWorker, handle?: unknown): void {
    if (!child.connected) return;
    // A raw listening handle travels as the channel's native type, which the typings leave out.
    child.send(message, handle as Parameters<ChildProcess['send']>[1], {}, () => {});
  }
}
