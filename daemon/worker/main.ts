// Entry of the worker process: joins the channel to the manager with a Worker. It ends when the channel closes,
// because a worker must never outlive its manager, and reports an uncaught exception before it dies of it. Started by
// root, it gives up root's rights before it opens a file, runs a program or is handed a socket.

import type { FromWorker, InitMessage, ToWorker } from '../link.ts';
import { becomeUser } from '../privileges.ts';
import { Worker } from './worker.ts';

function send(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}

// As ps and top show it; its code came through standard input, so that there is no name of a file.
process.title = 'proxyd worker';

let worker: Worker | null = null;

async function receive(message: ToWorker, handle: unknown): Promise<void> {
  switch (message.t) {
    case 'init':
      worker = new Worker(settleIn(message), send);
      await worker.start();
      return;
    case 'listener':
      worker?.listen(message.index, handle);
      return;
    case 'call': {
      const reply = worker === null ? { status: 400, body: 'Not ready' } : await worker.call(message.call);
      send({ t: 'reply', id: message.id, ...reply });
      if (message.call.op === 'stop') setImmediate(() => process.exit(0));
      return;
    }
  }
}

/** Its own directory is where it works: the way there may be closed to the user that it becomes. */
function settleIn(init: InitMessage): InitMessage {
  process.chdir(init.dir);
  if (init.account !== null) becomeUser(init.account);
  return { ...init, dir: '.' };
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
