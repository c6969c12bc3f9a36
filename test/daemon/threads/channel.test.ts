import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { ThreadMessage } from '../../../daemon/threads/channel.ts';
import { makeSlots, Peers, portsOf, type ThreadSlot } from '../../../daemon/threads/peers.ts';

interface Word extends ThreadMessage {
  readonly kind: 'word';
  readonly text: string;
}

const opened: ThreadSlot[] = [];
afterEach(() => {
  for (const slot of opened.splice(0)) for (const port of portsOf(slot)) port.close();
});

/** Several peers in one thread, connected as if they were in several. */
function peers(count: number): Peers[] {
  const slots = makeSlots(count);
  opened.push(...slots);
  const first = new Peers(slots[0] as ThreadSlot);
  return [first, ...slots.slice(1).map((slot) => new Peers(slot, first.memory.offer()))];
}

async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await turn();
}

it('delivers messages to the threads they are sent to, in order', async () => {
  const all = peers(3);
  const received: string[] = [];
  all.forEach(({ channel }, thread) => {
    channel.on<Word>('word', ({ text }, from) => void received.push(`${from} to ${thread}: ${text}`));
  });
  const [a, b] = all as [Peers, Peers, Peers];
  a.channel.send<Word>(1, { kind: 'word', text: 'one' });
  a.channel.send<Word>(1, { kind: 'word', text: 'two' });
  a.channel.send<Word>(0, { kind: 'word', text: 'to itself' });
  await settle();
  expect(received.splice(0)).toEqual(['0 to 1: one', '0 to 1: two']);
  b.channel.sendToAll<Word>({ kind: 'word', text: 'all' });
  await settle();
  expect(received.sort()).toEqual(['1 to 0: all', '1 to 2: all']);
});

function listening(all: Peers[]): string[] {
  const received: string[] = [];
  all.forEach(({ signals }, thread) => {
    signals.listen(
      {
        rush: (oh, alone) => void received.push(`${thread}: rush ${oh} ${alone}`),
        progress: (oc) => void received.push(`${thread}: progress ${oc}`),
        readerLeft: (oc) => void received.push(`${thread}: reader left ${oc}`),
      },
      () => void received.push(`${thread}: wake`),
    );
  });
  return received;
}

it('signals the threads that wait for a key, and the thread that fetches or runs the maintenance', async () => {
  const all = peers(3);
  const received = listening(all);
  const [a, b, c] = all as [Peers, Peers, Peers];
  b.signals.addWaiter(7);
  expect(a.signals.hasRemoteWaiters(7)).toBe(true);
  expect(b.signals.hasRemoteWaiters(7)).toBe(false);
  a.signals.rush(7, true);
  c.signals.readerLeft(1, 12);
  c.signals.readerLeft(99, 12);
  c.signals.readerLeft(-1, 12);
  c.signals.wakeMaintenance();
  await settle();
  expect(received.splice(0).sort()).toEqual(['0: wake', '1: reader left 12', '1: rush 7 true']);
  b.signals.removeWaiter(7);
  a.signals.rush(7, true);
  await settle();
  expect(received).toEqual([]);
});

it('reports growth of a body once per callback, and again to readers that attach meanwhile', async () => {
  const all = peers(3);
  const received = listening(all);
  const [a, b, c] = all as [Peers, Peers, Peers];
  b.signals.addReader(5);
  a.signals.progress(5);
  a.signals.progress(5);
  c.signals.addReader(5);
  a.signals.progress(5);
  await settle();
  expect(received.splice(0).sort()).toEqual(['1: progress 5', '2: progress 5']);
  a.signals.progress(5);
  await settle();
  expect(received.splice(0).sort()).toEqual(['1: progress 5', '2: progress 5']);
});

it('reports growth of a body again once the previous messages were sent', async () => {
  const all = peers(2);
  const received = listening(all);
  const [a, b] = all as [Peers, Peers];
  b.signals.addReader(5);
  // The messages go out between the first progress and the second, which is in a callback of the same turn.
  a.channel.send<Word>(1, { kind: 'word', text: 'has them go out' });
  queueMicrotask(() => a.signals.progress(5));
  a.signals.progress(5);
  await settle();
  expect(received).toEqual(['1: progress 5', '1: progress 5']);
});
