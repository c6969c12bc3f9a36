// Entries into calls: those of one kind, type and network together, within the network's bounds.

import type { EdgeBatch, Provider } from '../providers/provider.ts';
import type { QueueEntry } from './queue-entry.ts';

/** Rules that one request of content control takes. */
const MAX_RULES = 250;

export function batchOf(entries: readonly QueueEntry[]): EdgeBatch {
  const { kind, type, network } = entries[0] as QueueEntry;
  return { kind, type, network, targets: entries.map(({ target }) => target) };
}

export function intoBatches(entries: readonly QueueEntry[], provider: Provider): QueueEntry[][] {
  const groups = new Map<string, QueueEntry[]>();
  for (const entry of entries) {
    const key = `${entry.kind} ${entry.type} ${entry.network}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return [...groups.values()].flatMap((group) => cut(group, provider));
}

/** The size of a body is asked for only where a batch may be near the bound: asking costs as much as making it. */
function cut(group: readonly QueueEntry[], provider: Provider): QueueEntry[][] {
  const { maxObjects, maxBytes } = provider.capabilities;
  const { type } = group[0] as QueueEntry;
  const allowed = provider.objectsOf?.(type) ?? maxObjects;
  const most = type === 'rule' ? Math.min(MAX_RULES, allowed) : allowed;
  const batches: QueueEntry[][] = [];
  let batch: QueueEntry[] = [];
  let bytes = 0;
  const empty = provider.bodyBytes({ ...batchOf(group), targets: [] });
  for (const entry of group) {
    const own = provider.bodyBytes(batchOf([entry])) - empty + 1;
    if (batch.length > 0 && (batch.length >= most || empty + bytes + own > maxBytes)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += own;
  }
  batches.push(batch);
  return batches;
}
