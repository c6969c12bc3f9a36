// The worker's connection to the fleet: invalidations made here go to the manager, the only one on the bus, and those
// that come from it are applied. The first thread does both; the others call it.

import type { SoftPurge } from '../cache/soft-purge.ts';
import { type FleetReceipt, type FleetService, type Invalidation, STALE } from '../contract/invalidation.ts';
import type { FleetEvent, FleetRefusal, FromWorker } from '../link.ts';
import type { Channel } from '../threads/channel.ts';
import { caller, responder } from '../threads/remote-call.ts';
import { turns } from '../turns/turns.ts';
import { addBan, purgeKeys, purgePath } from './invalidating.ts';
import type { WorkerCore } from './worker-core.ts';

const PUBLISH = 'fleet.publish';
const FIRST = 0;

/** The fleet service of the first thread. */
export class FleetConnection implements FleetService {
  private readonly send: (message: FromWorker) => void;
  private readonly waiting = new Map<number, (receipt: FleetReceipt) => void>();
  private next = 1;

  constructor(send: (message: FromWorker) => void, channel: Channel | null) {
    this.send = send;
    if (channel !== null)
      responder<Invalidation, FleetReceipt>(channel, PUBLISH, (event) => this.publish(event));
  }

  publish(event: Invalidation): Promise<FleetReceipt> {
    return new Promise((resolve) => {
      const id = this.next++;
      this.waiting.set(id, resolve);
      this.send({ t: 'publish', id, event });
    });
  }

  /** The manager's reply. */
  published(id: number, receipt: FleetReceipt): void {
    this.waiting.get(id)?.(receipt);
    this.waiting.delete(id);
  }
}

/** The fleet service of the other threads. */
export function fleetOfFirst(channel: Channel): FleetService {
  return { publish: caller<Invalidation, FleetReceipt>(channel, PUBLISH, FIRST) };
}

/** Applies events of other nodes in order, over as many turns as needed. It raises nothing: the publishers have
 * notified the edge already. Returns the events that cannot be applied. */
export async function applyEvents(
  worker: WorkerCore,
  events: readonly FleetEvent[],
): Promise<FleetRefusal[]> {
  const refused: FleetRefusal[] = [];
  await turns.over(events, ({ event, seq, from }) => {
    const problem = apply(worker, event);
    const { kind, soft, subject } = event;
    const end = problem === null ? '' : `, refused: ${problem}`;
    worker.logNotice(`fleet: ${seq} of ${from}: ${soft ? 'soft ' : ''}${kind} ${subject}${end}`);
    if (problem !== null) refused.push({ seq, problem });
    // A key may have thousands of objects.
    turns.tookLong();
  });
  return refused;
}

/** Bans everything stored: after a gap it is unknown which objects are outdated. */
export function flush(worker: WorkerCore, why: string): void {
  worker.logNotice(`fleet: ${why}: everything that was fetched before is banned`);
  addBan(worker, ['obj.status', '!=', '0'], false, 'the fleet');
}

function apply(worker: WorkerCore, { kind, soft, subject, words, lives }: Invalidation): string | null {
  switch (kind) {
    case 'tags':
      purgeKeys(worker, subject, soft);
      return null;
    case 'ban':
      return addBan(worker, words ?? subject, soft, 'the fleet');
    case 'purge':
      purgeUrl(worker, subject, soft ? (lives ?? STALE) : null);
      return null;
  }
}

/** @param subject "host/path" or a whole URL */
function purgeUrl(worker: WorkerCore, subject: string, soft: SoftPurge | null): void {
  const [, host = '', rest = ''] = /^(?:https?:\/\/)?([^/?#]*)([^#]*)/s.exec(subject) ?? [];
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  const plainHash = worker.active?.plainHash === true;
  purgePath(worker, host, path, soft, plainHash);
  // Hash keys have a lower-case host, unless the program returns before the built-in vcl_recv lower-cases it.
  const small = host.toLowerCase();
  if (small !== host) purgePath(worker, small, path, soft, plainHash);
}
