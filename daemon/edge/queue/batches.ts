// Entries into calls: those of one kind, type and network together, within the network's bounds.

import type { EdgeBatch, Provider } from '../providers/provider.ts';
import type { Lane } from './queue-entries.ts';
import type { QueueEntry } from './queue-entry.ts';

/** Rules that one request of content control takes. */
const MAX_RULES = 250;

export function batchOf(entries: readonly QueueEntry[]): EdgeBatch {
  const { kind, type, network } = entries[0] as QueueEntry;
  return { kind, type, network, targets: entries.map(({ target }) => target) };
}

/** Takes out what goes into the next call, at most so many. */
export function takeBatch(waiting: Lane, provider: Provider, atMost: number): QueueEntry[] {
  const head = waiting.first;
  if (head === undefined) return [];
  const { maxObjects, maxBytes } = provider.capabilities;
  const { type } = head;
  const allowed = Math.min(atMost, provider.objectsOf?.(type) ?? maxObjects);
  const most = type === 'rule' ? Math.min(MAX_RULES, allowed) : allowed;
  const empty = provider.bodyBytes({ ...batchOf([head]), targets: [] });
  const batch: QueueEntry[] = [];
  let bytes = empty;
  for (let entry: QueueEntry | undefined = head; entry !== undefined; entry = waiting.first) {
    bytes += provider.bodyBytes(batchOf([entry])) - empty + 1;
    if (batch.length > 0 && (batch.length >= most || bytes > maxBytes)) break;
    batch.push(entry);
    waiting.remove(entry);
  }
  return batch;
}
