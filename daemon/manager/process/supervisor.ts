// The worker's lifecycle: start, stop, death, restart.
//
// Forks the process at once and sends it its configuration when it says hello, so that programs compile while it boots.
// Knows nothing of programs: `prepare` supplies the configuration for every start. Note: after deaths in quick succession,
// or if the system cannot create a process (no descriptor, no memory, too many processes), restarts are delayed more and
// more, but never given up.

import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { CLI } from '../../../protocol/errors.ts';
import type { CommandReply } from '../../../protocol/messages.ts';
import type { WorkerStatus } from '../../../protocol/tables/counters.ts';
import type { EventKind } from '../../../protocol/tables/events.ts';
import type { FleetReceipt, Invalidation } from '../../contract/invalidation.ts';
import type {
  FromWorker,
  InitMessage,
  LoadedProgram,
  TurnReport,
  WorkerCall,
  WorkerState,
} from '../../link.ts';
import type { ProcessCode } from '../../own-process.ts';
import type { Params } from '../../params/parameter-set.ts';
import type { MgtCounters } from '../../stats/counter-fields.ts';
import { atMost } from '../time-limit.ts';
import { yieldCores } from './cores.ts';
import { forkWorker } from './fork-worker.ts';
import type { ListenerSet } from './listeners.ts';
import { Retries } from './retries.ts';
import { Stopping } from './stopping.ts';
import { logOutput, WorkerReports } from './worker-output.ts';
import { NO_WORKER, WorkerProcess } from './worker-process.ts';

/** Callbacks of the supervisor. */
export interface SupervisorHost {
  /** Whether workers have a disk tier. */
  readonly hasDisk: boolean;
  /** The first message for a new worker, requested after its hello; null if there is nothing to run.
   * @param sendCode sends the code of a large program ahead; returns the program to put into the message */
  prepare(
    generation: number,
    sendCode: (load: LoadedProgram) => Promise<LoadedProgram>,
  ): Promise<InitMessage | null>;
  log(level: 'debug' | 'info' | 'warning' | 'error', text: string): void;
  panicked(text: string): void;
  happened(kind: EventKind, text: string): void;
  turned(turn: TurnReport, thread: number): void;
  changed(event: 'started' | 'stopped' | 'died' | 'trouble', text: string): void;
  /** Publishes an invalidation of the worker to the fleet. Never rejects. */
  publish(event: Invalidation): Promise<FleetReceipt>;
}

/** A worker that served for less than this, or not at all, died quickly. One that served longer is replaced at once,
 * however often: a delay would save the machine little and cost the traffic that the next one could serve. */
const YOUNG_MS = 2000;
/** Milliseconds that commands which do not change programs wait for a worker that is starting. */
const SETTLE_MS = 1000;

export class Supervisor {
  /** When `status` last changed, in milliseconds since 1970. */
  changedAt = Date.now();
  readonly counters: MgtCounters;
  private now: WorkerState = 'stopped';
  /** The last worker died or did not start, without having been stopped. */
  private failed = false;
  private readonly code: ProcessCode;
  private readonly host: SupervisorHost;
  private readonly params: Params;
  private readonly listeners: ListenerSet;
  private worker: WorkerProcess | null = null;
  /** Of a worker that was asked to stop. */
  private stopping: Stopping | null = null;
  /** A process that was forked before the supervisor existed, for the first start. */
  private early: ChildProcess | null;
  private generation = 0;
  private readonly retries = new Retries(() => this.launch());
  private wanted = false;
  /** The pending start() replaces a scheduled retry: it is retried if it fails. */
  private retrying = false;
  private readonly reports: WorkerReports;
  private settle: { resolve(): void; reject(reason: Error): void } | null = null;
  private readonly onStopped: (() => void)[] = [];
  private readonly onSettled: (() => void)[] = [];

  constructor(
    code: ProcessCode,
    listeners: ListenerSet,
    params: Params,
    host: SupervisorHost,
    counters: MgtCounters,
    early: ChildProcess | null = null,
  ) {
    this.code = code;
    this.listeners = listeners;
    this.params = params;
    this.host = host;
    this.counters = counters;
    this.early = early;
    this.reports = new WorkerReports(host);
  }

  get state(): WorkerState {
    return this.now;
  }

  private set state(state: WorkerState) {
    if (state !== this.now) this.changedAt = Date.now();
    this.now = state;
  }

  get status(): WorkerStatus {
    if (this.now !== 'stopped') return this.now;
    if (this.retries.pending) return 'dead, to be replaced';
    return this.failed ? 'dead' : 'stopped';
  }

  /** Process id of the worker; 0 without one. */
  get pid(): number {
    return this.worker?.pid ?? 0;
  }

  /** When the cache of the present worker was empty, in milliseconds since 1970; null without a worker. */
  get cacheSince(): number | null {
    return this.worker?.cacheSince ?? null;
  }

  /** The requests that a stopping worker waits for, as a text; empty for none. */
  get waitsFor(): string {
    return this.stopping?.text ?? '';
  }

  /** Whether a dead worker will be replaced after a delay. */
  get awaitsRestart(): boolean {
    return this.retries.pending;
  }

  /** Starts the worker; resolves when it serves, rejects with the reason if it does not start. */
  start(): Promise<void> {
    this.retrying = this.retries.pending;
    this.wanted = true;
    this.retries.forget();
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.launch();
    });
  }

  /** Resolves when no start is in progress. Changes of programs wait for it, or a new worker would miss them. */
  settled(): Promise<void> {
    if (this.state !== 'starting') return Promise.resolve();
    return new Promise((resolve) => this.onSettled.push(resolve));
  }

  /** The same with a time limit, for queries, stops and starts. */
  async settledSoon(): Promise<void> {
    if (this.state !== 'starting') return;
    await atMost(SETTLE_MS, this.settled());
  }

  /** Stops the worker, which accepts no more connections and finishes what it has begun; resolves when it has exited.
   * Never fails: a worker that hangs is killed. */
  stop(): Promise<void> {
    this.wanted = false;
    if (this.failed) this.changedAt = Date.now();
    this.failed = false;
    if (this.retries.pending) this.host.log('info', 'No worker was running; no further start is attempted');
    this.retries.cancel();
    const { worker } = this;
    if (worker === null) {
      this.state = 'stopped';
      // They were kept open for the next worker.
      this.listeners.close();
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.onStopped.push(resolve);
      if (this.state === 'stopping') return;
      const seconds = this.state === 'running' ? this.params.num('stop_timeout') : 0;
      this.state = 'stopping';
      this.host.log('debug', 'Stopping Child');
      // Clients are to be refused, not to wait for a worker that does not come.
      this.listeners.close();
      this.stopping = new Stopping(worker, seconds, (level, text) => {
        this.host.log(level, text);
        this.host.happened('worker', text);
      });
    });
  }

  /** A worker that is being stopped finishes nothing any more. */
  hurry(): void {
    this.stopping?.hurry();
  }

  call(call: WorkerCall): Promise<CommandReply> {
    return this.worker?.call(call) ?? Promise.resolve(NO_WORKER);
  }

  /** For the exit of the manager: no process may outlive it. */
  killNow(): void {
    this.wanted = false;
    this.early?.kill('SIGKILL');
    this.worker?.kill();
  }

  /** Whether a dead worker is replaced. */
  private get autoRestart(): boolean {
    return this.params.bool('auto_restart');
  }

  private launch(): void {
    this.retries.cancel();
    if (!this.wanted || this.worker !== null) return;
    const refused = this.listeners.open();
    if (refused !== null) {
      this.failStart(refused);
      return;
    }
    this.state = 'starting';
    let child: ChildProcess;
    try {
      child = this.early ?? forkWorker(this.code, this.host.hasDisk);
    } catch (cause) {
      this.forkFailed(cause as Error);
      return;
    }
    this.early = null;
    const worker = new WorkerProcess(child, this.params, {
      onMessage: (from, message) => void this.receive(from, message),
      onLateStart: (late) => {
        if (late !== this.worker || this.state !== 'starting') return;
        this.host.log('error', `Child (${late.pid}) did not start in time, killed it.`);
        late.kill();
      },
      onHang: (hung) => {
        if (hung !== this.worker || this.state === 'stopping') return;
        this.host.log('error', `Child (${hung.pid}) not responding to CLI, killed it.`);
        hung.kill();
      },
    });
    this.worker = worker;
    child.on('error', (cause) => {
      // Without a process id there is no process, and no 'exit' event will come.
      if (child.pid === undefined) this.forkFailed(cause, worker);
      else this.host.log('error', `Child (${child.pid}): ${cause.message}`);
    });
    if (child.pid === undefined) return;
    this.counters.child_start++;
    this.host.log('debug', `Child (${worker.pid}) Started`);
    logOutput(worker.pid, [child.stdout, child.stderr], (text) => this.host.log('info', text));
    worker.onExit((code, signal) => this.exited(worker, code, signal));
    worker.expectProgress();
  }

  /** The system could not create a process. A pending start() is rejected; the start is retried whatever the reason. */
  private forkFailed(cause: Error, worker: WorkerProcess | null = null): void {
    if (this.worker !== worker) return;
    this.worker = null;
    this.failed = true;
    this.state = 'stopped';
    const { settle } = this;
    this.settle = null;
    const why = `Cannot start a worker process: ${cause.message}`;
    this.host.log('error', this.wanted ? `${why}; ${this.retries.next()}` : why);
    settle?.reject(
      new Error(`${why}. It will be retried; free the missing resource (descriptors, memory, processes)`),
    );
    this.notify(this.onSettled);
    this.notify(this.onStopped);
  }

  private notify(waiters: (() => void)[]): void {
    for (const resolve of waiters.splice(0)) resolve();
  }

  private async receive(worker: WorkerProcess, m: FromWorker): Promise<void> {
    if (worker !== this.worker) return;
    switch (m.t) {
      case 'hello':
        await this.initialize(worker);
        return;
      case 'ready':
        this.listeners.bound(m.listeners);
        this.serving(worker);
        return;
      case 'failed':
        this.failStart(m.reason);
        return;
      case 'trouble':
        this.host.log('error', m.text);
        this.host.changed('trouble', m.text);
        return;
      case 'note':
        this.reports.note(m);
        return;
      case 'happened':
        this.reports.event(m);
        return;
      case 'turn':
        this.host.turned(m, m.thread);
        return;
      case 'draining':
        this.stopping?.waitsFor(m.thread, m.requests);
        return;
      case 'publish': {
        const receipt = await this.host.publish(m.event);
        worker.post({ t: 'published', id: m.id, receipt });
        return;
      }
    }
  }

  /** Sends a worker its configuration and its listening sockets. */
  private async initialize(worker: WorkerProcess): Promise<void> {
    let init: InitMessage | null;
    // Compiling programs has no deadline.
    worker.cancelDeadline();
    try {
      init = await this.host.prepare(this.generation++, (load) => worker.sendCode(load));
    } catch (cause) {
      this.failStart((cause as Error).message);
      return;
    }
    if (worker !== this.worker || this.state === 'stopping') return;
    if (init === null) {
      this.failStart('No active VCL');
      return;
    }
    worker.configure(init, this.listeners, this.code, (text) => this.host.log('warning', text));
    worker.expectProgress();
  }

  private serving(worker: WorkerProcess): void {
    if (this.state === 'starting') this.state = 'running';
    worker.servedAt = performance.now();
    if (worker.threads > 1) void yieldCores(worker.pid);
    this.failed = false;
    worker.cancelDeadline();
    this.notify(this.onSettled);
    worker.watch();
    this.host.log('info', 'Child launched OK');
    this.host.changed('started', `Child (${worker.pid}) started`);
    this.settle?.resolve();
    this.settle = null;
  }

  private exited(worker: WorkerProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (worker !== this.worker) return;
    const { pid } = worker;
    const asked = this.state === 'stopping';
    this.worker = null;
    this.stopping = null;
    if (!asked) this.failed = true;
    this.state = 'stopped';
    this.notify(this.onSettled);
    worker.end(
      asked ? { status: CLI.OK, body: '' } : { status: CLI.COMMS, body: 'CLI communication error (hdr)' },
    );
    if (asked) {
      this.counters.child_exit++;
      this.host.log('info', `Child (${pid}) ended`);
    } else this.died(worker, code, signal);
    this.host.log('debug', 'Child cleanup complete');
    if (!this.wanted) this.listeners.close();
    if (asked) this.host.changed('stopped', this.withLoss(`Child (${pid}) stopped`, worker));
    this.notify(this.onStopped);
    // failStart() killed it: there was no stop command.
    if (asked && this.wanted) this.host.log('error', `Child (${pid}) did not serve; ${this.retries.next()}`);
  }

  /** The end of a worker with what ended with it: one that never served had no cache. */
  private withLoss(report: string, { servedAt }: WorkerProcess): string {
    if (servedAt === null) return report;
    return this.host.hasDisk
      ? `${report}; its cache in memory and its bans are gone, objects on disk remain`
      : `${report}; its cache and its bans are gone`;
  }

  private died(worker: WorkerProcess, code: number | null, signal: NodeJS.Signals | null) {
    const { pid, panic, servedAt } = worker;
    const how = signal === null ? `status=${code}` : `signal=${constants.signals[signal]} (${signal})`;
    if (servedAt !== null && performance.now() - servedAt >= YOUNG_MS) this.retries.forget();
    const asked = this.settle !== null;
    if (!this.autoRestart || (asked && !this.retrying)) this.wanted = false;
    const next = this.wanted ? this.retries.next() : 'not restarted';
    const why = this.wanted || asked ? '' : ' (auto_restart is off: use the command start)';
    const report = `Child (${pid}) died ${how}; ${next}${why}`;
    this.host.log('error', report);
    if (signal === null && panic === '') this.counters.child_stop++;
    else this.counters.child_died++;
    if (panic !== '') {
      this.counters.child_panic++;
      this.host.panicked(panic);
    }
    this.host.changed('died', this.withLoss(report, worker));
    const { settle } = this;
    this.settle = null;
    settle?.reject(new Error(panic === '' ? `Child (${pid}) died ${how} at its start` : panic));
  }

  /** The worker cannot run: a pending start() is rejected and not retried. An automatic restart is retried, since the
   * configuration was accepted before. */
  private failStart(reason: string): void {
    const { settle, worker } = this;
    this.settle = null;
    this.failed = true;
    if ((settle !== null && !this.retrying) || !this.autoRestart) this.wanted = false;
    const next = worker === null && this.wanted ? `; ${this.retries.next()}` : '';
    if (settle === null || next !== '') this.host.log('error', `Child cannot start: ${reason}${next}`);
    if (worker === null) {
      this.state = 'stopped';
      if (!this.wanted) this.listeners.close();
      settle?.reject(new Error(reason));
      return;
    }
    this.state = 'stopping';
    worker.kill();
    this.onStopped.push(() => settle?.reject(new Error(reason)));
  }
}
