// Joins the edge connector to the worker. It is made when a program that imports it is loaded, with the settings sent
// along. The first thread owns the queue; the others call it through their ports.

import type { EdgeReceipt, Invalidation } from '../contract/invalidation.ts';
import type { EdgeFile } from '../contract/program.ts';
import { EdgeConnector, type QueueElsewhere } from '../edge/connector.ts';
import { parseEdgeConfig } from '../edge/edge-config.ts';
import type { Channel } from '../threads/channel.ts';
import { caller, responder } from '../threads/remote-call.ts';
import type { WorkerCore } from './worker-core.ts';

/** Returns the worker's connector, made if needed and configured with these settings. @param elsewhere the first thread's
 * queue; null in the first thread */
export async function connectEdge(
  worker: WorkerCore,
  file: EdgeFile,
  elsewhere: QueueElsewhere | null,
): Promise<EdgeConnector> {
  const config = parseEdgeConfig(file.text, file.path);
  const connector =
    worker.edge ??
    new EdgeConnector(config, {
      counters: worker.edgeCounters,
      log: (text) => worker.logNotice(text),
      warn: (text) => worker.note(4, text),
      activeImports: () => worker.active?.program.compiled.imports.includes('edge') === true,
      elsewhere,
    });
  await connector.configure(config, config.text('dir') || file.directory, file.ca);
  return connector;
}

interface UnsentMessage {
  readonly kind: 'edge.unsent';
}

const RECORD = 'edge.record';
const FIRST = 0;

/** The first thread's queue, for use in another thread. */
export function queueOfFirst(channel: Channel): QueueElsewhere {
  return {
    record: caller<Invalidation, EdgeReceipt>(channel, RECORD, FIRST),
    unsent: () => channel.send<UnsentMessage>(FIRST, { kind: 'edge.unsent' }),
  };
}

/** Serves the other threads' calls, in the first thread. */
export function answerOthers(channel: Channel, worker: WorkerCore): void {
  responder<Invalidation, EdgeReceipt>(channel, RECORD, async (event) => {
    const { edge } = worker;
    if (edge !== null) return edge.record(event);
    return {
      provider: '',
      op: event.kind,
      id: '',
      state: 'rejected',
      detail: 'no program imports edge any more',
    };
  });
  channel.on<UnsentMessage>('edge.unsent', () => worker.edge?.unsent());
}
