// The lists of saintmode objects in several threads, which are here in one.
import { describe, expect, it } from 'vitest';
import { Saint } from '../../../../daemon/extensions/saintmode/saint.ts';
import { SaintmodeEvents } from '../../../../daemon/extensions/saintmode/saintmode-events.ts';
import { makeSlots, Peers, type ThreadSlot } from '../../../../daemon/threads/peers.ts';
import { ThreadsState } from '../../../../daemon/worker/threads-state.ts';
import { FakeBackend } from '../directors/fake-backends.ts';

const NOW = 1_700_000_000;

/** The state of two threads. */
function states(): [ThreadsState, ThreadsState] {
  const [a, b] = makeSlots(2) as [ThreadSlot, ThreadSlot];
  const first = new Peers(a);
  const state = new ThreadsState(first, [1, 2]);
  return [state, new ThreadsState(new Peers(b, first.memory.offer()), [1, 2])];
}

function saintIn(events: SaintmodeEvents, name = 's', threshold = 3): Saint {
  const saint = new Saint('boot', name, new FakeBackend('b'), threshold, events, NOW);
  events.join(saint);
  return saint;
}

function threads(): [SaintmodeEvents, SaintmodeEvents] {
  const [a, b] = states();
  return [new SaintmodeEvents(a, 0), new SaintmodeEvents(b, 1)];
}

describe('the list of a saintmode object', () => {
  it('has what every thread has put there, each once', () => {
    const [here, there] = threads().map((events) => saintIn(events)) as [Saint, Saint];
    here.blacklist('one', 5, NOW);
    there.blacklist('two', 5, NOW);
    here.blacklist('one', 5, NOW);
    expect([here.count, there.count]).toEqual([3, 3]);
    // The threshold holds for all together.
    expect([here.healthy(NOW), there.healthy(NOW)]).toEqual([false, false]);
    expect([here.healthy(NOW + 6), there.healthy(NOW + 6)]).toEqual([true, true]);
    expect([here.count, there.count]).toEqual([0, 0]);
  });

  it('loses in all threads what one takes off because its time is over', () => {
    const [here, there] = threads().map((events) => saintIn(events)) as [Saint, Saint];
    here.blacklist('short', 1, NOW);
    there.blacklist('long', 50, NOW);
    here.healthy(NOW + 0.5);
    expect([here.count, there.count]).toEqual([2, 2]);
    here.healthy(NOW + 2);
    expect([here.count, there.count]).toEqual([1, 1]);
    // The next query to the other one counts from there.
    there.healthy(NOW + 51);
    expect([here.count, there.count]).toEqual([0, 0]);
  });

  it('is not that of another object, of one made later, or of one that is gone', () => {
    const [one, two] = threads();
    const here = saintIn(one);
    const other = saintIn(two, 'other');
    const gone = saintIn(two);
    two.leave(gone);
    here.blacklist('k\nwith a line', 5, NOW);
    const late = saintIn(two);
    expect([here.count, other.count, gone.count, late.count]).toEqual([1, 0, 0, 0]);
  });

  it('misses nothing that is still being written, and continues after what was forgotten', () => {
    const [a, b] = states();
    const [one, two] = [new SaintmodeEvents(a, 0), new SaintmodeEvents(b, 1)];
    const [here, there] = [saintIn(one), saintIn(two)];
    // As a thread does that has taken a number and not written yet.
    const last = new Int32Array(a.memory('saintmode', () => new SharedArrayBuffer(4)));
    Atomics.add(last, 0, 1);
    here.blacklist('k', 50, NOW);
    expect(there.count).toBe(0);
    a.table('saintmode', { numbers: 3, entries: 8192, forgetsOldest: true }).update('1', (row) => {
      row.numbers.splice(0, 3, NOW + 50, 0, NOW);
      row.text = 'boot.s\nfirst';
    });
    expect(there.count).toBe(2);
    Atomics.add(last, 0, 1);
    for (let i = 0; i < 8200; i++) one.post('boot.s', `k${i}`, NOW + 50, NOW);
    expect(there.count).toBeGreaterThan(8000);
  });
});
