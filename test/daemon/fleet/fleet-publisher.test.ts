// Outcomes of a publication: stored, certainly not stored, or unknown.
import { expect, it, vi } from 'vitest';
import type { PublishResult } from '../../../daemon/fleet/bus.ts';
import { FleetPublisher } from '../../../daemon/fleet/fleet-publisher.ts';
import { NodeRegistry } from '../../../daemon/fleet/node-registry.ts';
import { FakeBus } from './fake-bus.ts';

const EVENT = { kind: 'tags', soft: false, subject: 'a', origin: 'admin', count: null } as const;
const refused = (again: boolean): PublishResult => ({ state: 'refused', detail: 'full', again });
const silence: PublishResult = { state: 'unanswered', detail: 'timeout' };

function publisher(timeout = 1000, wait = 5) {
  const bus = new FakeBus();
  /** The stream that is read here, and the last message of it that is applied here. */
  const own = { stream: 'one', place: 0 };
  const registry = new NodeRegistry(
    'self',
    () => 0,
    () => own.stream,
  );
  const made = new FleetPublisher(bus, registry, 'self', 'life', {
    timeout: () => timeout,
    wait: () => wait,
    place: () => own.place,
    doubt: () => {
      own.stream = '';
    },
  });
  return { bus, registry, own, made };
}

it('is stored, with how far it has come', async () => {
  const { made, registry, bus } = publisher();
  registry.beat('b', { life: 'b', version: '', current: true, applied: 0, lag: 0 }, 0);
  expect(await made.publish(EVENT)).toEqual({
    state: 'stored',
    seq: 1,
    applied: 1,
    nodes: 2,
    behind: ['b'],
    detail: '',
  });
  expect([made.isOwn(bus.ids[0] ?? ''), made.isOwn('other.1'), made.counters]).toEqual([
    true,
    false,
    { published: 1, unconfirmed: 0 },
  ]);
});

it('is not taken for applied by those who have applied that number of a stream that is gone', async () => {
  const { made, registry, own } = publisher(1000, 1e9);
  const beat = (applied: number): void =>
    registry.beat('b', { life: 'b', version: '', current: true, applied, stream: own.stream, lag: 0 }, 0);
  own.place = 9;
  beat(9);
  const published = made.publish(EVENT);
  await vi.waitFor(() => expect(own.stream).toBe(''), { timeout: 20_000 });
  own.stream = 'two';
  registry.applied('b', 9, 'one');
  expect(registry.reach(1)).toMatchObject({ applied: 1, behind: ['b'] });
  registry.applied('b', 1, 'two');
  expect(await published).toMatchObject({ state: 'stored', seq: 1, applied: 2, behind: [] });
});

it('is tried again under the same id', async () => {
  const { made, bus } = publisher();
  bus.results = [silence, refused(true)];
  expect(await made.publish(EVENT)).toMatchObject({ state: 'stored' });
  expect(new Set(bus.ids).size).toBe(1);
  await made.publish(EVENT);
  expect(new Set(bus.ids).size).toBe(2);
});

it.each<[string, string, PublishResult[]]>([
  ['certainly not stored when it is refused', 'lost', [refused(false)]],
  ['nobody knows when it was refused after a try without an answer', 'unknown', [silence, refused(false)]],
  ['certainly not stored when it never left', 'lost', Array(100).fill(refused(true))],
  ['nobody knows when nobody answers', 'unknown', Array(100).fill(silence)],
])('%s', async (_, state, results) => {
  const { made, bus } = publisher(120);
  bus.results = results;
  expect(await made.publish(EVENT)).toMatchObject({ state, seq: 0, applied: 1, nodes: 1 });
  expect(made.counters).toEqual({ published: 0, unconfirmed: 1 });
});

it('is not stored when it is too long', async () => {
  const { made, bus } = publisher();
  expect(await made.publish({ ...EVENT, subject: 'a'.repeat(70_000) })).toMatchObject({ state: 'lost' });
  expect(bus.ids).toEqual([]);
});
