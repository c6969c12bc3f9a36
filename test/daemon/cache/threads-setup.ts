// Threads of one memory played in one thread: each has a cache of its own over what they share.
import { Cache } from '../../../daemon/cache/cache.ts';
import { type CacheCounters, newCacheCounters } from '../../../daemon/cache/cache-counters.ts';
import { makeSlots, Peers, portsOf, type ThreadSlot } from '../../../daemon/threads/peers.ts';
import { defaultLimits, T0 } from './cache-setup.ts';

const opened: ThreadSlot[] = [];

/** The peers of two threads. */
export function peersOfTwo(): [Peers, Peers] {
  const slots = makeSlots(2);
  opened.push(...slots);
  const first = new Peers(slots[0] as ThreadSlot);
  return [first, new Peers(slots[1] as ThreadSlot, first.memory.offer())];
}

/** Closes the ports of all threads so far; without it they keep the process alive. */
export function closePorts(): void {
  for (const slot of opened.splice(0)) for (const port of portsOf(slot)) port.close();
}

/** @param size bytes of the store */
export function cacheOf(peers: Peers, size: number, counters: CacheCounters = newCacheCounters()): Cache {
  const cache = new Cache({
    storages: [{ name: 's0', kind: 'malloc', size }],
    counters,
    limits: defaultLimits(),
    compileRegex: (pattern) => new RegExp(pattern),
    now: T0,
    seed: [1, 2],
    shared: {
      memory: peers.part('cache'),
      lock: peers.lock,
      signals: peers.signals,
      maintains: peers.thread === 0,
    },
  });
  peers.signals.listen(cache.receiver, () => undefined);
  return cache;
}
