// Entry of the worker process: connects the channel to the manager with a Worker. It exits when the channel closes,
// because a worker must never outlive its manager, and reports an uncaught exception before it exits. Started by root,
// it drops privileges before it opens a file, runs a program or receives a socket. The other threads start here too,
// and branch off in the last line.

import { randomInt } from 'node:crypto';
import { constants, openSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import type { CommandReply } from '../../protocol/messages.ts';
import { clockBase } from '../clock.ts';
import type { FromWorker, InitMessage, ToWorker, WorkerCall } from '../link.ts';
import { becomeUser } from '../privileges.ts';
import { makeSlots, Peers } from '../threads/peers.ts';
import { turns } from '../turns/turns.ts';
import { carryOutLogged } from './carry-out.ts';
import { PendingCode } from './pending-code.ts';
import { runThread } from './thread.ts';
import { Worker } from './worker.ts';
import type { CommonStart } from './worker-core.ts';
import { WorkerThreads } from './worker-threads.ts';

/** Characters of a reply per message (chosen: writing and reading them takes a fraction of a millisecond). */
const PART = 128 * 1024;

function send(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}

let worker: Worker | null = null;
/** The other threads; null with one thread. */
let threads: WorkerThreads | null = null;
const code = new PendingCode();

async function receive(message: ToWorker, handle: unknown): Promise<void> {
  switch (message.t) {
    case 'init':
      await begin(settleIn({ ...message, programs: message.programs.map((each) => code.join(each)) }));
      return;
    case 'listener':
      if (message.thread === 0) worker?.listen(message.index, handle);
      else threads?.listen(message.thread, message.index, handle as { fd?: number } | null);
      return;
    case 'published':
      worker?.published(message.id, message.receipt);
      return;
    case 'code':
      code.take(message.ahead, message.piece, message.text);
      return;
    case 'call': {
      const reply = await answer(withCode(message.call));
      await sendReply(message.id, reply);
      if (message.call.op === 'stop') setImmediate(() => process.exit(0));
      return;
    }
  }
}

/** Starts to serve with the given number of threads. */
async function begin(init: InitMessage): Promise<void> {
  if (init.threads <= 1) {
    const only = new Worker(init, send);
    worker = only;
    await only.start((call) => carryOutLogged(only, call));
    return;
  }
  const slots = makeSlots(init.threads);
  const peers = new Peers(slots[0] as (typeof slots)[number]);
  const common: CommonStart = {
    clock: clockBase(),
    now: Date.now() / 1000,
    seed: [randomInt(2 ** 32), randomInt(2 ** 32)],
  };
  let others: Promise<void> = Promise.resolve();
  // The worker is ready when all threads are.
  const sendWhenReady = (message: FromWorker): void => {
    if (message.t === 'ready') void others.then(() => send(message));
    else send(message);
  };
  const first = new Worker(init, sendWhenReady, { peers, ...common });
  worker = first;
  threads = new WorkerThreads(first, peers, slots, { init, common }, send, panic);
  others = threads.started();
  await first.start((call) => carryOutLogged(first, call));
}

/** A long body is sent in parts, with turns of other work between them. */
async function sendReply(id: number, { status, body }: CommandReply): Promise<void> {
  let at = 0;
  for (; body.length - at > PART; at += PART) {
    send({ t: 'part', id, text: body.slice(at, at + PART) });
    await turns.next();
  }
  send({ t: 'reply', id, status, body: at === 0 ? body : body.slice(at) });
}

async function answer(call: WorkerCall): Promise<CommandReply> {
  if (worker === null) return { status: 400, body: 'Not ready' };
  return threads === null ? carryOutLogged(worker, call) : threads.call(call);
}

function withCode(call: WorkerCall): WorkerCall {
  return call.op === 'vcl.load' ? { ...call, load: code.join(call.load) } : call;
}

/** Drops privileges in the working directory: the new user may have no access to the path that leads there. */
function settleIn(init: InitMessage): InitMessage {
  process.chdir(init.dir);
  const disk = init.disk === undefined ? {} : { disk: { ...init.disk, path: openDirectory(init.disk.path) } };
  if (init.account !== null) becomeUser(init.account);
  return { ...init, ...disk, dir: '.' };
}

/** A name for a directory that this process keeps open, which stays valid under another user. */
function openDirectory(path: string): string {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  return `/proc/self/fd/${openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)}`;
}

function panic(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (worker?.programs.isOutsideFault(error) === true) {
    send({ t: 'note', level: 'error', text: `An extension threw outside of a call: ${text}` });
    return;
  }
  worker?.flush();
  if (!process.connected) process.exit(70);
  process.send?.({ t: 'panic', text } satisfies FromWorker, undefined, undefined, () => process.exit(70));
  setTimeout(() => process.exit(70), 500);
}

function run(): void {
  // The name in ps and top; the code came through standard input, so there is no file name to show.
  process.title = 'proxyd worker';
  process.on('uncaughtException', panic);
  process.on('unhandledRejection', panic);
  process.on('disconnect', () => {
    worker?.flush();
    process.exit(0);
  });
  // The manager decides when the worker ends; a terminal's Ctrl-C reaches both.
  process.on('SIGINT', () => undefined);
  process.on('message', (message, handle) => {
    receive(message as ToWorker, handle).catch((error: unknown) => {
      const text = error instanceof Error ? error.message : String(error);
      if ((message as ToWorker).t === 'init') send({ t: 'failed', reason: text });
      else panic(error);
    });
  });
  send({ t: 'hello', pid: process.pid });
}

if (isMainThread) run();
else runThread();
