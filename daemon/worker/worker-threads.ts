// The other threads of the worker, as the first thread controls them: it starts them, forwards the manager's calls and
// combines the replies. A thread that dies takes the worker with it, and the manager starts a new one (decisions/15).

import { Worker as Thread } from 'node:worker_threads';
import type { CommandReply } from '../../protocol/messages.ts';
import type { CommandName } from '../../protocol/tables/commands.ts';
import type { FromWorker, InitMessage, ProgramStatus, WorkerCall } from '../link.ts';
import { type Peers, portsOf, type ThreadSlot } from '../threads/peers.ts';
import type { MemoryOffer } from '../threads/shared-memory.ts';
import { carryOut } from './carry-out.ts';
import { logCall } from './cli-log.ts';
import type { Worker } from './worker.ts';
import type { CommonStart } from './worker-core.ts';

/** Runs the worker's code, which a thread receives as data. A module URL with all of the code would cost 0.4 s of
 * parsing, and with `eval` Node 20 does not load modules named by --import. */
const THREAD_MAIN = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { createRequire } from 'node:module';
    import { compileFunction, constants } from 'node:vm';
    import { workerData } from 'node:worker_threads';
    const { code } = workerData.init;
    workerData.init.code = null;
    const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
    const options = { filename: '/worker.js', importModuleDynamically };
    compileFunction(code, ['require', '__filename'], options)(createRequire('file:///'), '/worker.js');
  `)}`,
);

/** The data a thread is started with. */
export interface ThreadStart {
  readonly slot: ThreadSlot;
  readonly offer: MemoryOffer;
  readonly init: InitMessage;
  /** Start values of the shared cache. */
  readonly common: CommonStart;
}

/** Messages between the first thread and the others, besides those of the cache. */
export interface CallMessage {
  readonly kind: 'call';
  readonly id: number;
  readonly call: WorkerCall;
}
export interface ReplyMessage {
  readonly kind: 'reply';
  readonly id: number;
  readonly reply: CommandReply;
}
export interface ListenMessage {
  readonly kind: 'listen';
  readonly index: number;
  readonly fd: number;
}
/** All threads listen. */
export interface ReadyMessage {
  readonly kind: 'ready';
}
/** A message for the manager, which the first thread forwards. */
export interface WorkerEvent {
  readonly kind: 'event';
  readonly message: FromWorker;
}

/** Commands that change state that every thread has for itself. */
const EVERYWHERE: ReadonlySet<CommandName> = new Set(['backend.set_health']);

const OK: CommandReply = { status: 200, body: '' };

/** Milliseconds by which a thread's limit is shorter than the whole worker's (chosen: two checks). The manager's limit
 * may run out on a call that waits for the hung thread, and would end the worker without naming the thread. */
const BEFORE_MANAGER = 500;

export class WorkerThreads {
  private readonly own: Worker;
  private readonly peers: Peers;
  private readonly failed: (text: string) => void;
  private readonly pending = new Map<number, (reply: CommandReply) => void>();
  private next = 1;
  /** Serial number of the next program; programs loaded at the start have none. */
  private loading = 1;
  private readonly ready: Promise<void>;
  /** Resolves when all changes requested so far are done. */
  private changed: Promise<unknown> = Promise.resolve();
  /** Keeps the descriptors open that the threads listen on. */
  private readonly handles: unknown[] = [];

  /**
   * @param slots of all threads
   * @param send forwards a thread's message to the manager
   * @param failed called with the reason when a thread has ended
   */
  constructor(
    own: Worker,
    peers: Peers,
    slots: readonly ThreadSlot[],
    start: { readonly init: InitMessage; readonly common: CommonStart },
    send: (message: FromWorker) => void,
    failed: (text: string) => void,
  ) {
    this.own = own;
    this.peers = peers;
    this.failed = failed;
    const waiting = new Set<number>();
    let allReady = (): void => undefined;
    this.ready = new Promise((resolve) => {
      allReady = resolve;
    });
    const { channel } = peers;
    channel.on<WorkerEvent>('event', ({ message }, from) => {
      if (message.t === 'panic') failed(`Thread ${from}: ${message.text}`);
      else if (message.t !== 'ready') send(message);
      else {
        waiting.delete(from);
        if (waiting.size > 0) return;
        channel.sendToAll<ReadyMessage>({ kind: 'ready' });
        own.allReady();
        own.swept = () => this.watch();
        allReady();
      }
    });
    channel.on<ReplyMessage>('reply', ({ id, reply }) => {
      this.pending.get(id)?.(reply);
      this.pending.delete(id);
    });
    for (const slot of slots.slice(1)) {
      waiting.add(slot.thread);
      const data: ThreadStart = {
        slot,
        offer: peers.memory.offer(),
        init: start.init,
        common: start.common,
      };
      const thread = new Thread(THREAD_MAIN, { workerData: data, transferList: portsOf(slot) });
      thread.on('error', (error) => failed(`Thread ${slot.thread}: ${textOf(error)}`));
      thread.on('exit', (status) => failed(`Thread ${slot.thread} ended with status ${status}`));
    }
  }

  /** All threads have loaded their programs and listen. */
  started(): Promise<void> {
    return this.ready;
  }

  /** Makes a thread listen on a descriptor of its own, which the handle keeps open. */
  listen(thread: number, index: number, handle: { readonly fd?: number } | null): void {
    const fd = handle?.fd ?? -1;
    if (fd < 0) {
      this.failed(`Thread ${thread}: no descriptor to listen on`);
      return;
    }
    this.handles.push(handle);
    this.peers.channel.send<ListenMessage>(thread, { kind: 'listen', index, fd });
  }

  /** A thread that hangs counts as dead: its requests wait, and no operation over all threads can finish. */
  private watch(): void {
    const { cli_timeout } = this.own.params;
    const limit = Math.max(BEFORE_MANAGER, cli_timeout * 1000 - BEFORE_MANAGER);
    const silent = this.peers.heartbeats.silentFor(limit, performance.now());
    if (silent === null) return;
    this.failed(
      `Thread ${silent} hangs: its event loop has been blocked for almost ${cli_timeout} s (cli_timeout)`,
    );
  }

  /** Executes a call in every thread before replying. Changes run one after another: two at the same time could reach
   * the threads in different orders. */
  call(call: WorkerCall): Promise<CommandReply> {
    const run = (): Promise<CommandReply> => logCall(this.own.workerLog, call, (same) => this.carryOut(same));
    if (!changesThreads(call)) return run();
    const reply = this.changed.then(run);
    this.changed = reply.catch(() => undefined);
    return reply;
  }

  private async carryOut(call: WorkerCall): Promise<CommandReply> {
    switch (call.op) {
      case 'cli': {
        const reply = await carryOut(this.own, call);
        if (changesThreads(call)) await this.callOthers(call);
        return reply;
      }
      // Heartbeats cover the other threads.
      case 'ping':
        return carryOut(this.own, call);
      // All threads share one cache.
      case 'fleet.apply':
      case 'fleet.flush':
      case 'fleet.place':
      case 'fleet.keep':
        return carryOut(this.own, call);
      case 'vcl.load': {
        const load = { op: call.op, load: { ...call.load, loading: this.loading++ } };
        const reply = await carryOut(this.own, load);
        if (reply.status !== 200) return reply;
        const refusal = (await this.callOthers(load)).find(({ status }) => status !== 200);
        if (refusal === undefined) return reply;
        // A program that one thread cannot run is discarded in all of them.
        await this.callAll({ op: 'vcl.discard', name: call.load.name });
        return refusal;
      }
      case 'vcl.list': {
        const replies = await this.callAll(call);
        const lists = replies.map(({ body }) => JSON.parse(body) as ProgramStatus[]);
        return { status: 200, body: JSON.stringify(mergeLists(lists)) };
      }
      // The first thread has the disk tier, and writes what the others have stored and purged.
      case 'stop': {
        await this.callOthers(call);
        return carryOut(this.own, call);
      }
      case 'drain': {
        const left = (await this.callAll(call)).reduce((sum, { body }) => sum + Number(body), 0);
        return { status: 200, body: String(left) };
      }
      default: {
        const replies = await this.callAll(call);
        return replies.find(({ status }) => status !== 200) ?? replies[0] ?? OK;
      }
    }
  }

  /** Replies of all threads, the first thread's first. */
  private async callAll(call: WorkerCall): Promise<CommandReply[]> {
    const others = this.callOthers(call);
    return [await carryOut(this.own, call), ...(await others)];
  }

  private callOthers(call: WorkerCall): Promise<CommandReply[]> {
    const { channel, count } = this.peers;
    const replies: Promise<CommandReply>[] = [];
    for (let thread = 1; thread < count; thread++) {
      const id = this.next++;
      replies.push(new Promise((resolve) => this.pending.set(id, resolve)));
      channel.send<CallMessage>(thread, { kind: 'call', id, call });
    }
    return Promise.all(replies);
  }
}

/** Whether a call changes state that every thread has for itself. No stop waits for earlier changes. */
function changesThreads(call: WorkerCall): boolean {
  switch (call.op) {
    case 'cli':
      return EVERYWHERE.has(call.command.name);
    case 'ping':
    case 'vcl.list':
    case 'fleet.apply':
    case 'fleet.flush':
    case 'fleet.place':
    case 'fleet.keep':
    case 'drain':
    case 'stop':
      return false;
    default:
      return true;
  }
}

/** Merges the threads' program lists into the one operators see, with transactions added up. Each list is in order of
 * loading; a discarded program that is still in use in some thread keeps its place between its neighbours there. */
export function mergeLists(lists: readonly ProgramStatus[][]): ProgramStatus[] {
  const merged: ProgramStatus[] = [];
  for (const list of lists) {
    // Insertion point for the next entry of this list that no earlier list had.
    let next = 0;
    for (const status of list) {
      const at = merged.findIndex(
        (each, i) => i >= next && each.name === status.name && each.discarded === status.discarded,
      );
      const same = merged[at];
      if (same === undefined) merged.splice(next++, 0, { ...status });
      else {
        next = at + 1;
        same.refs += status.refs;
        if (status.temperature === 'busy') same.temperature = 'busy';
      }
    }
  }
  return merged;
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
