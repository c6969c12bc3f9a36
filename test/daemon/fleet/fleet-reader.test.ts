// A node reading the stream: everything once and in order; if its position is no longer valid, the only safe thing.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { StreamPlace } from '../../../daemon/fleet/fleet-cache.ts';
import { FleetLog } from '../../../daemon/fleet/fleet-log.ts';
import { FleetReader } from '../../../daemon/fleet/fleet-reader.ts';
import { FakeBus } from './fake-bus.ts';

const purge = (url: string): string => JSON.stringify({ v: 1, kind: 'purge', url });

interface Begin {
  since?: number | null;
  catchUp?: number | null;
  /** The place of a cache that is kept; absent of one that is not. */
  kept?: StreamPlace | 'new' | null;
}

function reader({ since = null, catchUp = 1e6, kept }: Begin = {}) {
  const bus = new FakeBus();
  const calls: string[] = [];
  const reported: string[] = [];
  const log = new FleetLog();
  const cache = {
    since,
    gate: Promise.resolve() as Promise<unknown>,
    refuses: 0,
    /** The worker ends with the next events. */
    dies: false,
    kept: kept ?? null,
  };
  const made = new FleetReader({
    bus,
    node: 'self',
    log,
    isOwn: (id) => id.startsWith('mine.'),
    catchUp: () => catchUp,
    report: (_, text) => reported.push(text),
    changed: () => {},
    cache: {
      since: () => cache.since,
      async apply(events) {
        await cache.gate;
        if (cache.dies) {
          cache.dies = false;
          throw new Error('no worker');
        }
        calls.push(...events.map(({ event, seq, from }) => `${seq} ${from} ${event.kind} ${event.subject}`));
        return events
          .filter(({ event }) => event.subject === 'bad')
          .map(({ seq }) => ({ seq, problem: 'no' }));
      },
      kept:
        kept === undefined
          ? null
          : {
              read: async () => cache.kept,
              write: async (place) => {
                cache.kept = place;
              },
            },
      hold: async (on) => void calls.push(on ? 'hold' : 'let go'),
      flush: async () => {
        if (cache.refuses-- > 0) throw new Error('no answer');
        calls.push('flush');
      },
    },
  });
  open.push(made);
  /** It begins with what the stream has, then there is a cache. */
  const begin = async (): Promise<void> => {
    void made.run();
    await vi.waitFor(() => expect(made.current).toBe(true), { timeout: 20_000 });
    cache.since ??= 1;
  };
  /** The connection is lost and comes again; `meanwhile` happens in between. */
  const away = async (meanwhile: () => void): Promise<void> => {
    bus.lose();
    made.away();
    meanwhile();
    await vi.waitFor(() => expect(made.current).toBe(false), { timeout: 20_000 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    bus.connected = true;
    void made.run();
  };
  return { bus, calls, reported, log, cache, made, begin, away };
}
const open: FleetReader[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});
const reaches = (calls: string[], expected: string[]): Promise<void> =>
  vi.waitFor(() => expect(calls).toEqual(expected), { timeout: 20_000 });

describe('a fresh cache', () => {
  it("begins at the stream's end, and applies what comes after it once and in order", async () => {
    const r = reader();
    r.bus.put(purge('before/'));
    await r.begin();
    for (const url of ['a/', 'b/', 'c/']) r.bus.put(purge(url));
    await reaches(r.calls, ['2 other purge a/', '3 other purge b/', '4 other purge c/']);
    expect(r.bus.reports.at(-1)).toEqual(['other', 4]);
    expect(r.made.counters).toEqual({ applied: 3, refused: 0, gaps: 0, flushed: 0 });
  });

  it('passes over its own messages, and refuses what is none', async () => {
    const r = reader();
    await r.begin();
    r.bus.put(purge('a/'), 'self', 'mine.1');
    r.bus.put('what?');
    r.bus.put(purge('bad'));
    r.bus.put(purge('b/'), 'self', 'earlier.1');
    await reaches(r.calls, ['3 other purge bad', '4 self purge b/']);
    await vi.waitFor(() => expect(r.made.counters).toEqual({ applied: 1, refused: 2, gaps: 0, flushed: 0 }), {
      timeout: 20_000,
    });
    expect(r.reported).toEqual(['Fleet: message 2 of other refused: not JSON']);
    expect(r.log.last(9).map((e) => [e.seq, e.from, e.kind, e.subject, e.state, e.problem])).toEqual([
      [1, 'self', 'purge', 'a/', 'applied', null],
      [2, 'other', null, '', 'refused', 'not JSON'],
      [3, 'other', 'purge', 'bad', 'refused', 'no'],
      [4, 'self', 'purge', 'b/', 'applied', null],
    ]);
  });
});

describe('a cache that was filled before the bus was there', () => {
  it('gets what was published since it began', async () => {
    const r = reader({ since: 61_002 });
    r.bus.put(purge('a/'));
    r.bus.put(purge('b/'));
    void r.made.run();
    await reaches(r.calls, ['2 other purge b/']);
  });

  it('is banned when the stream does not reach so far', async () => {
    const r = reader({ since: 61_002 });
    for (const url of ['a/', 'b/', 'c/']) r.bus.put(purge(url));
    r.bus.trim(3);
    void r.made.run();
    await reaches(r.calls, ['flush']);
    r.bus.put(purge('d/'));
    await reaches(r.calls, ['flush', '4 other purge d/']);
  });
});

describe('a cache that is kept', () => {
  const at = (seq: number): StreamPlace => ({ created: 'one', seq, at: 1000 + seq });

  it('gets what came since, and holds its objects until then', async () => {
    const r = reader({ since: 1, kept: at(1) });
    for (const url of ['a/', 'b/', 'c/']) r.bus.put(purge(url));
    r.made.workerStarted();
    void r.made.run();
    await reaches(r.calls, ['hold', '2 other purge b/', '3 other purge c/', 'let go']);
    await vi.waitFor(() => expect(r.cache.kept).toEqual(at(3)), { timeout: 20_000 });
  });

  it('serves its deferred objects when nothing was missed', async () => {
    const r = reader({ since: 1, kept: at(1) });
    r.bus.put(purge('a/'));
    r.made.workerStarted();
    void r.made.run();
    await reaches(r.calls, ['let go']);
  });

  it.each([
    ['unknown', null],
    ['of another stream', { ...at(1), created: 'two' }],
    ['that of another message', { ...at(1), at: 999 }],
  ])('is banned when its place is %s', async (_, kept) => {
    const r = reader({ since: 1, kept });
    for (const url of ['a/', 'b/']) r.bus.put(purge(url));
    r.made.workerStarted();
    void r.made.run();
    await reaches(r.calls, ['flush', 'let go']);
    await vi.waitFor(() => expect(r.cache.kept).toEqual(at(2)), {
      timeout: 20_000,
    });
  });

  it('gets again what a worker has not kept', async () => {
    const r = reader({ since: 1, kept: at(1) });
    r.bus.put(purge('a/'));
    r.made.workerStarted();
    void r.made.run();
    await reaches(r.calls, ['let go']);
    r.cache.dies = true;
    r.bus.put(purge('b/'));
    await reaches(r.calls, ['let go', 'hold', '2 other purge b/', 'let go']);
  });

  it('that began empty gets what was published since then', async () => {
    const r = reader({ since: 61_002, kept: 'new' });
    for (const url of ['a/', 'b/']) r.bus.put(purge(url));
    void r.made.run();
    await reaches(r.calls, ['2 other purge b/']);
  });

  it('serves on with fleet_gap=serve', async () => {
    const r = reader({ since: 1, kept: at(1), catchUp: null });
    for (const url of ['a/', 'b/']) r.bus.put(purge(url));
    r.made.workerStarted();
    void r.made.run();
    await reaches(r.calls, ['let go', '2 other purge b/']);
  });
});

describe('after a gap', () => {
  it('old objects wait until all that was missed is applied', async () => {
    const r = reader();
    await r.begin();
    await r.away(() => {
      r.bus.put(purge('a/'));
      r.bus.put(purge('b/'));
    });
    await reaches(r.calls, ['hold', '1 other purge a/', '2 other purge b/', 'let go']);
    expect([r.made.current, r.made.counters.gaps]).toEqual([true, 1]);
  });

  it('is counted once, however often reading begins again before it is closed', async () => {
    const r = reader();
    await r.begin();
    r.cache.dies = true;
    await r.away(() => {
      for (const url of ['a/', 'b/']) r.bus.put(purge(url));
    });
    await vi.waitFor(() => expect(r.made.current).toBe(true), { timeout: 20_000 });
    expect([r.cache.dies, r.made.counters.applied, r.made.counters.gaps]).toEqual([false, 2, 1]);
    await r.away(() => r.bus.put(purge('c/')));
    await vi.waitFor(() => expect(r.made.counters).toMatchObject({ applied: 3, gaps: 2 }), {
      timeout: 20_000,
    });
  });

  it.each([
    ['began at the end', null],
    ['began with a time', 61_002],
  ])(
    'a stream that was cut short and written on is known for one by a node that has applied nothing yet and %s',
    async (_, since) => {
      const r = reader({ since });
      r.bus.put(purge('a/'));
      if (since === null) r.bus.put(purge('b/'));
      await r.begin();
      await r.away(() => {
        // The same numbers, later.
        r.bus.messages = [];
        r.bus.last = 0;
        for (const url of ['c/', 'd/', 'e/']) r.bus.put(purge(url));
        r.bus.messages = r.bus.messages.map((m) => ({ ...m, at: m.at + 500 }));
      });
      await reaches(r.calls, ['flush']);
      expect(r.reported).toContain(
        'Fleet: the stream was rewritten: everything that was fetched before is banned',
      );
    },
  );

  it('in which nothing was missed, nothing waits', async () => {
    const r = reader();
    await r.begin();
    await r.away(() => {});
    await vi.waitFor(() => expect(r.made.current).toBe(true), { timeout: 20_000 });
    expect([r.calls, r.made.counters.gaps]).toEqual([[], 0]);
  });

  it('old objects are banned when it takes too long, and it continues', async () => {
    const r = reader({ catchUp: 20 });
    await r.begin();
    let goOn: (() => void) | null = null;
    await r.away(() => {
      r.cache.gate = new Promise<void>((resolve) => (goOn = resolve));
      r.bus.put(purge('a/'));
    });
    await reaches(r.calls, ['hold', 'flush', 'let go']);
    expect(r.made.current).toBe(false);
    (goOn as (() => void) | null)?.();
    await reaches(r.calls, ['hold', 'flush', 'let go', '1 other purge a/']);
    await vi.waitFor(() => expect(r.made.current).toBe(true), { timeout: 20_000 });
  });

  it('old objects that cannot be banned stay deferred, which is logged, until they can be', async () => {
    const r = reader({ catchUp: 20 });
    await r.begin();
    await r.away(() => {
      r.cache.gate = new Promise(() => undefined);
      r.cache.refuses = 2;
      r.bus.put(purge('a/'));
    });
    await reaches(r.calls, ['hold', 'flush', 'let go']);
    const output = r.reported.filter((text) => text.includes('remain on hold'));
    expect(output).toEqual(
      Array(2).fill('Fleet: old objects remain on hold, because they cannot be banned: no answer'),
    );
  });

  it('old objects are served meanwhile with fleet_gap=serve, which is logged', async () => {
    const r = reader({ catchUp: null });
    await r.begin();
    await r.away(() => r.bus.put(purge('a/')));
    await reaches(r.calls, ['1 other purge a/']);
    expect(r.reported).toContain(
      'Fleet: behind by 1 messages; old objects are served until they are applied',
    );
  });

  it('what was asked before the connection was lost does not make it current', async () => {
    const r = reader();
    await r.begin();
    const read = r.bus.read.bind(r.bus);
    await r.away(() => {
      r.bus.read = async (from, take) => {
        r.bus.read = read;
        const reading = await read(from, take);
        // Another loss, of which the reader that is just being made has no part.
        r.made.away();
        r.bus.put(purge('a/'));
        return reading;
      };
    });
    await reaches(r.calls, ['hold', '1 other purge a/', 'let go']);
    expect(r.made.counters.gaps).toBe(1);
  });

  it('without a cache there is nothing to catch up with', async () => {
    const r = reader();
    await r.begin();
    await r.away(() => {
      r.cache.since = null;
      r.bus.put(purge('a/'));
    });
    await vi.waitFor(() => expect(r.made.current).toBe(true), { timeout: 20_000 });
    r.bus.put(purge('b/'));
    await reaches(r.calls, ['2 other purge b/']);
  });

  it.each<[string, string, (bus: FakeBus) => void]>([
    ['was trimmed', 'the stream lacks 3 to 4', (bus) => bus.trim(5)],
    ['is another one', 'the stream was recreated', (bus) => (bus.created = 'two')],
    [
      'was cut short',
      'the stream was truncated',
      (bus) => {
        bus.messages = bus.messages.slice(0, 1);
        bus.last = 1;
      },
    ],
    [
      'was cut short and written on',
      'the stream was rewritten',
      (bus) => (bus.messages = bus.messages.map((m) => ({ ...m, at: m.at + 500 }))),
    ],
  ])('everything is banned once when the stream %s', async (_, why, change) => {
    const r = reader();
    await r.begin();
    for (const url of ['a/', 'b/']) r.bus.put(purge(url));
    await vi.waitFor(() => expect(r.calls).toHaveLength(2), { timeout: 20_000 });
    r.calls.length = 0;
    await r.away(() => {
      for (const url of ['c/', 'd/', 'e/']) r.bus.put(purge(url));
      change(r.bus);
    });
    await vi.waitFor(() => expect(r.made.current).toBe(true), { timeout: 20_000 });
    expect(r.calls).toEqual(['flush']);
    expect(r.reported).toContain(`Fleet: ${why}: everything that was fetched before is banned`);
    r.bus.put(purge('f/'));
    await reaches(r.calls, ['flush', `${r.bus.last} other purge f/`]);
    expect(r.made.counters.flushed).toBe(1);
  });

  it('too far behind: counts as a gap, old objects are deferred until it has caught up', async () => {
    const r = reader();
    await r.begin();
    r.bus.pending = 10_000;
    r.bus.put(purge('a/'));
    await reaches(r.calls, ['hold', '1 other purge a/']);
    expect([r.made.current, r.made.lag.messages]).toEqual([false, 10_000]);
    r.bus.pending = 0;
    r.bus.last = 10_000;
    r.bus.put(purge('b/'));
    await vi.waitFor(() => expect(r.made.current).toBe(true), { timeout: 20_000 });
    expect(r.calls.at(-1)).toBe('let go');
  });

  it('a message that is missing in the middle of a reading makes it read again, and ban if it is gone', async () => {
    const r = reader();
    await r.begin();
    r.bus.put(purge('a/'));
    await reaches(r.calls, ['1 other purge a/']);
    // The second is lost on the way.
    r.bus.last++;
    r.bus.put(purge('c/'));
    await vi.waitFor(
      () => expect(r.calls).toEqual(['1 other purge a/', 'hold', 'flush', '3 other purge c/', 'let go']),
      {
        timeout: 20_000,
      },
    );
  });
});
