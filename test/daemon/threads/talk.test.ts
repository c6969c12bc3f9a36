import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { Companions, makeSeats, portsOf, type Seat } from '../../../daemon/threads/seat.ts';
import type { Said } from '../../../daemon/threads/talk.ts';

interface Word extends Said {
  readonly kind: 'word';
  readonly text: string;
}

const opened: Seat[] = [];
afterEach(() => {
  for (const seat of opened.splice(0)) for (const port of portsOf(seat)) port.close();
});

/** Threads in one: what they say to each other goes the same ways. */
function companions(count: number): Companions[] {
  const seats = makeSeats(count);
  opened.push(...seats);
  const first = new Companions(seats[0] as Seat);
  return [first, ...seats.slice(1).map((seat) => new Companions(seat, first.memory.offer()))];
}

async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await turn();
}

it('brings what is said to those it is said to, in order', async () => {
  const all = companions(3);
  const heard: string[] = [];
  all.forEach(({ talk }, thread) => {
    talk.on<Word>('word', ({ text }, from) => void heard.push(`${from} to ${thread}: ${text}`));
  });
  const [a, b] = all as [Companions, Companions, Companions];
  a.talk.say<Word>(1, { kind: 'word', text: 'one' });
  a.talk.say<Word>(1, { kind: 'word', text: 'two' });
  a.talk.say<Word>(0, { kind: 'word', text: 'to itself' });
  await settle();
  expect(heard.splice(0)).toEqual(['0 to 1: one', '0 to 1: two']);
  b.talk.sayToAll<Word>({ kind: 'word', text: 'all' });
  await settle();
  expect(heard.sort()).toEqual(['1 to 0: all', '1 to 2: all']);
});

function listening(all: Companions[]): string[] {
  const heard: string[] = [];
  all.forEach(({ peers }, thread) => {
    peers.listen(
      {
        rush: (oh, alone) => void heard.push(`${thread}: rush ${oh} ${alone}`),
        progress: (oc) => void heard.push(`${thread}: progress ${oc}`),
        readerLeft: (oc) => void heard.push(`${thread}: reader left ${oc}`),
      },
      () => void heard.push(`${thread}: wake`),
    );
  });
  return heard;
}

it('notifies waiters for a key, and the thread that fetches or does the maintenance', async () => {
  const all = companions(3);
  const heard = listening(all);
  const [a, b, c] = all as [Companions, Companions, Companions];
  b.peers.waits(7);
  expect(a.peers.othersWait(7)).toBe(true);
  expect(b.peers.othersWait(7)).toBe(false);
  a.peers.rush(7, true);
  c.peers.readerLeft(1, 12);
  c.peers.readerLeft(99, 12);
  c.peers.readerLeft(-1, 12);
  c.peers.wakeMaintenance();
  await settle();
  expect(heard.splice(0).sort()).toEqual(['0: wake', '1: reader left 12', '1: rush 7 true']);
  b.peers.waitsNoMore(7);
  a.peers.rush(7, true);
  await settle();
  expect(heard).toEqual([]);
});

it('reports growth of a body once per callback, and again to readers that attach meanwhile', async () => {
  const all = companions(3);
  const heard = listening(all);
  const [a, b, c] = all as [Companions, Companions, Companions];
  b.peers.reads(5);
  a.peers.progress(5);
  a.peers.progress(5);
  c.peers.reads(5);
  a.peers.progress(5);
  await settle();
  expect(heard.splice(0).sort()).toEqual(['1: progress 5', '2: progress 5']);
  a.peers.progress(5);
  await settle();
  expect(heard.splice(0).sort()).toEqual(['1: progress 5', '2: progress 5']);
});

it('reports growth of a body again once the previous messages were sent', async () => {
  const all = companions(2);
  const heard = listening(all);
  const [a, b] = all as [Companions, Companions];
  b.peers.reads(5);
  // The messages go out between the first progress and the second, which is in a callback of the same turn.
  a.talk.say<Word>(1, { kind: 'word', text: 'has them go out' });
  queueMicrotask(() => a.peers.progress(5));
  a.peers.progress(5);
  await settle();
  expect(heard).toEqual(['1: progress 5', '1: progress 5']);
});
