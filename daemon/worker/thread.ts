// A thread other than the first: a worker of its own that shares cache, log and counters with the rest. It executes the
// first thread's calls, and sends it the messages that are meant for the manager.

import { parentPort, workerData } from 'node:worker_threads';
import type { FromWorker } from '../link.ts';
import { Peers } from '../threads/peers.ts';
import { carryOut, carryOutLogged } from './carry-out.ts';
import { Worker } from './worker.ts';
import type {
  CallMessage,
  ListenMessage,
  ReadyMessage,
  ReplyMessage,
  ThreadStart,
  WorkerEvent,
} from './worker-threads.ts';

const FIRST = 0;

export function runThread(): void {
  const start = workerData as ThreadStart;
  const peers = new Peers(start.slot, start.offer);
  const { channel } = peers;
  const send = (message: FromWorker): void => channel.send<WorkerEvent>(FIRST, { kind: 'event', message });
  // Keeps the thread alive as long as the process, whatever it waits for.
  parentPort?.on('message', () => undefined);
  let worker: Worker | null = null;
  const panic = (error: unknown): void => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (worker?.programs.isOutsideFault(error) === true) {
      send({ t: 'note', level: 'error', text: `An extension threw outside of a call: ${text}` });
      return;
    }
    worker?.flush();
    send({ t: 'panic', text });
  };
  process.on('uncaughtException', panic);
  process.on('unhandledRejection', panic);
  worker = new Worker(start.init, send, { peers, ...start.common });
  const own = worker;
  own.swept = () => peers.heartbeats.beat();
  channel.on<CallMessage>('call', ({ id, call }) => {
    carryOut(own, call)
      .then((reply) => channel.send<ReplyMessage>(FIRST, { kind: 'reply', id, reply }))
      .catch(panic);
  });
  channel.on<ReadyMessage>('ready', () => own.allReady());
  channel.on<ListenMessage>('listen', ({ index, fd }) => own.listen(index, { fd }));
  own
    .start((call) => carryOutLogged(own, call))
    .catch((error: Error) => send({ t: 'failed', reason: error.message }));
}
